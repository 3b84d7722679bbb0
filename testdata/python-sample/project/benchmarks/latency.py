from vllm import Engine

print(Engine().run("a bb ccc"))
