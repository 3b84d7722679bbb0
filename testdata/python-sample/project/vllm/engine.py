import multiprocessing

from vllm.config import Config
from vllm.sampling import greedy


class Engine:
    def __init__(self, config=None):
        self.config = config or Config()

    def run(self, prompt):
        def layer(values):
            return [value + 1 for value in values]

        values = [len(word) for word in prompt.split()]
        for _ in range(self.config.layers):
            values = layer(values)
        return greedy(values)

    def run_in_worker(self, prompt):
        context = multiprocessing.get_context("spawn")
        queue = context.Queue()
        worker = context.Process(target=work, args=(queue, prompt))
        worker.start()
        answer = queue.get(timeout=60)
        # Workers of a real engine are ended like this when a test is over.
        worker.kill()
        worker.join()
        return answer

    def never_called(self):
        return None


def work(queue, prompt):
    queue.put(Engine().run(prompt))
    multiprocessing.Event().wait()
