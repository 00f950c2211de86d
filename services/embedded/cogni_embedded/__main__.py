"""`python -m cogni_embedded`: the `cogni` command."""

from cogni_embedded.cli import main

if __name__ == "__main__":
    main()
