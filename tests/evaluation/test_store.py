"""The folder of a contest: what is removed from it, and what its files are refused for."""

from training.evaluation.store import Store

OURS = ("records/draft-000-000000.jsonl.gz", "records/draft-012-000128.jsonl.gz", "results/000-000016.npz.part")
THEIRS = ("records/draft-mine.jsonl.gz", "records/draft-1.jsonl.gz", "records/draft-notes", "results/notes.part", "results/mine.npz.part")


def test_only_drafts_of_its_own_naming_are_removed(tmp_path):
    store = Store(tmp_path / "out", True)
    assert not store.open({"seed": 1})
    for name in (*OURS, *THEIRS):
        (store.folder / name).write_text(name)
    (store.folder / "records" / "draft-folder.jsonl.gz").mkdir()
    assert store.open({"seed": 1})
    assert not any((store.folder / name).exists() for name in OURS)
    assert all((store.folder / name).read_text() == name for name in THEIRS)
    assert (store.folder / "records" / "draft-folder.jsonl.gz").is_dir()
