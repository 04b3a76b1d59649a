from __future__ import annotations

from hosts.hosts import SphinxHost
from hosts.work_tree import changes, commit

PAGES = {"index": ["model: net.json", "model: tinymodels.Net\ninputs: [1, 4]"]}


def test_build_leaves_no_file_in_the_work_tree(host, monkeypatch, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    write = host.write

    def written(*arguments):
        write(*arguments)
        commit(source)

    monkeypatch.setattr(host, "write", written)
    site = host.build(source, PAGES)
    assert not site.has_failed, site.log
    # the tool's own configuration is written last
    assert changes(source) in {"", "?? conf.py\n", "?? mkdocs.yml\n"}
    for builder in ("latex", "epub") if isinstance(host, SphinxHost) else ():
        assert host._build(source, tmp_path / builder, "-b", builder, "-D", "version=1").returncode == 0
        assert changes(source) == "?? conf.py\n", builder
