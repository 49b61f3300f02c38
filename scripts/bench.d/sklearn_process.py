"""The rival scikit-learn, in a process of its own, as its user would write it: prints seconds and accuracy as JSON.

sklearn_process.py ESTIMATOR TRAIN HELD_OUT EPOCHS
"""

import json
import sys
import time
import warnings

from generated_instances import WORDS
from sklearn import linear_model
from sklearn.datasets import load_svmlight_files


def main(estimator: str, train: str, held_out: str, epochs: str) -> None:
    warnings.simplefilter("ignore")  # versions differ in what they deprecate
    x, y, x_held_out, y_held_out = load_svmlight_files([train, held_out], n_features=WORDS + 1)
    for matrix in (x, x_held_out):  # some versions read wider indices than their learners take
        matrix.indices, matrix.indptr = matrix.indices.astype("i4"), matrix.indptr.astype("i4")
    model = getattr(linear_model, estimator)(max_iter=int(epochs), tol=None, random_state=1)
    began = time.process_time()
    model.fit(x, y)
    seconds = time.process_time() - began
    accuracy = model.score(x_held_out, y_held_out)
    print(json.dumps({"passes": [seconds / int(epochs)] * int(epochs), "accuracy": accuracy}))


if __name__ == "__main__":
    main(*sys.argv[1:])
