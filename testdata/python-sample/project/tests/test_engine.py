from vllm import Engine
from vllm.config import Config, tiny


def test_run():
    assert Engine(tiny()).run("a bb ccc") == 4


def test_run_in_worker():
    assert Engine().run_in_worker("a bb") == 4


def test_config():
    assert Config().is_supported
