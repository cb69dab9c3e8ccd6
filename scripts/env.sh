# Sourced by the scripts beside it, from any directory: goes to the project's root and makes environments.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

find_python() {
    local python
    for python in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    echo "No Python 3.11 or newer with its venv module was found (on Debian: apt install python3-venv)." >&2
    return 1
}

# use_env FOLDER: makes that environment unless it is there; its commands are then in $bin.
use_env() {
    if ! [ -e "$1/ready" ]; then
        local python
        python=$(find_python)
        echo "Making the environment $1 with $("$python" --version); the first time takes a minute or two." >&2
        "$python" -m venv "$1"
    fi
    bin=$1/bin
    if [ -d "$1/Scripts" ]; then bin=$1/Scripts; fi
    if ! [ -e "$1/ready" ]; then   # Python 3.11 brings a pip that does not know dependency groups
        "$bin/python" -m pip install -qq --upgrade 'pip>=25.1'
        touch "$1/ready"
    fi
}

# install PIP-ARGUMENTS...: into the environment in use, once for each state of pyproject.toml.
install() {
    local wish="$PWD $(cksum <pyproject.toml) $*"
    if grep -qsxF -- "$wish" "$bin/../ready"; then return; fi
    "$bin/python" -m pip install -qq "$@"
    echo "$wish" >>"$bin/../ready"
}
