"""The README's Python snippets run as they stand, one after the other."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_snippets_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(snippets) >= 5
    names: dict = {}
    for snippet in snippets:
        exec(compile(snippet, str(README), "exec"), names)
    assert "You are chef_1" in capsys.readouterr().out
    assert names["result"].statistics.env_steps == 256 * 400


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text()):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target
