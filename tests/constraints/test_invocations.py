from __future__ import annotations

import shlex

import pytest

from unified_state.constraints.rules.invocations import covers, read_invocation


def is_covered(pattern: str, command: str) -> bool:
    return covers(read_invocation(shlex.split(pattern)), read_invocation(shlex.split(command)))


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git push --force", "git push --force"),
        ("git push --force", "git push origin main --force"),
        ("git push --force", "git push -f"),
        ("git push --force", "git push -fu origin main"),
        ("git push --force", "git -C x -c a=b --git-dir=y --no-pager push --force"),
        ("git push --force", "git push origin +main"),
        ("git push --force", "git push origin a b +refs/heads/c:refs/heads/d"),
        ("git push --force", "git push --mirror"),
        ("git push --force", "/usr/bin/git push -f"),
        ("git push --force", "git.exe push -f"),
        ("git push -f", "git push --force"),
        ("git push --delete", "git push origin :main"),
        ("git push --force origin main", "git push origin main -f"),
        ("git push * main", "git push upstream main"),
        ("git reset --hard", "git reset HEAD~1 --hard"),
        ("git commit --no-verify", "git commit -anm message"),
        ("git commit --no-verify", "git commit --no-verif -m x"),
        ("git branch --delete --force", "git branch -D x"),
        ("rm -rf", "rm -f -r x"),
        ("rm -rf", "rm --recursive --force x"),
        ("kubectl delete", "kubectl -n prod delete pod x"),
        ("kubectl delete --namespace=prod", "kubectl --namespace prod delete pod x"),
        ("npm publish", "npm publish --tag next"),
        ("terraform apply -auto-approve", "terraform -chdir=x apply -auto-approve"),
        ("*deploy*", "./bin/deploy.sh now"),
    ],
)
def test_a_pattern_means_a_command_however_it_is_spelled(pattern: str, command: str) -> None:
    assert is_covered(pattern, command)


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git push --force", "git push"),
        ("git push --force", "git push --force-with-lease"),
        ("git push --force", "git push --force-with-lease=main:abc origin main"),
        ("git push --force", "git push --force-if-includes"),
        ("git push --force", "git push --follow-tags"),
        ("git push --force", "git push -o --force"),
        ("git push --force", "git push -- --force"),
        ("git push --force", "git pull --force"),
        ("git push --force", "git commit -m 'push --force'"),
        ("git push --force", "gitk push --force"),
        ("git push --force-with-lease", "git push --force"),
        ("git push --force origin main", "git push --force origin dev"),
        ("git commit --no-verify", "git commit -m --no-verify"),
        ("git commit --no-verify", "git commit -am n"),
        ("git commit --no-verify", "git commit -m -n"),
        ("rm -rf", "rm -r x"),
        ("kubectl delete", "kubectl get delete"),
        ("kubectl delete", "kubectl -n delete get pod"),
        ("terraform apply -r", "terraform apply -refresh=false"),
        ("npm publish", "npm run publish"),
    ],
)
def test_a_pattern_means_nothing_else(pattern: str, command: str) -> None:
    assert not is_covered(pattern, command)
