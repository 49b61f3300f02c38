class TreeFinder:
    pass
