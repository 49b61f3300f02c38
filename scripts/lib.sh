# What scripts/demo, scripts/test and scripts/bench share: a virtual environment with this tree's package installed.
# Source it from bash, with the repository as the current directory.

say() { printf '==> %s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# Prints the first Python on the PATH that is new enough and can make virtual environments.
find_python() {
    local candidate without_venv=""
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9 python; do
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 9))' >/dev/null 2>&1 || continue
        if "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
            command -v "$candidate"
            return
        fi
        without_venv=${without_venv:-$candidate}
    done
    if [ -n "$without_venv" ]; then
        fail "$(command -v "$without_venv") cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv"
    fi
    fail "No Python 3.9 or newer was found on the PATH; install one (https://www.python.org/downloads) and run this again."
}

# Lists the files that the installed package is made of.
sources() {
    local path
    for path in LICENSE README.md pyproject.toml setup.cfg setup.py MANIFEST.in configs jobs perceptron_core; do
        if [ -e "$path" ]; then find "$path" -type f ! -name '*.pyc' ! -name '*.so' ! -name '*.c'; fi
    done | LC_ALL=C sort
}

# install VENV [EXTRA]: makes the environment if there is none, and installs the package (with EXTRA, such as [test])
# unless exactly these sources are installed already.
install() {
    local venv=$1 extra=${2:-} python stamp
    if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        python=$(find_python)
        say "making the virtual environment $venv with $("$python" --version)"
        "$python" -m venv "$venv"
    fi
    stamp="$extra $(sources | xargs cksum | cksum)"
    if [ "$stamp" = "$(cat "$venv/installed-sources" 2>/dev/null)" ]; then
        return
    fi
    say "installing the package into $venv"
    install_copy "$venv" "$extra" --upgrade
    printf '%s\n' "$stamp" >"$venv/installed-sources"
}

# install_copy VENV EXTRA OPTIONS...: installs a copy of these sources by pip, because a build in the tree itself would
# also pick up what older builds left there.
install_copy() (
    venv=$1 extra=$2
    shift 2
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    sources | xargs tar -cf - | tar -xf - -C "$copy"
    "$venv/bin/python" -m pip install --quiet --use-pep517 --disable-pip-version-check "$@" "$copy$extra" \
        || fail "The installation failed; pip's messages above say why."
)
