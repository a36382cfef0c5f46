"""The fixtures of dramatiq's tests of its RabbitMQ broker, which its source package lacks."""
import dramatiq
import pytest
from dramatiq import Worker
from dramatiq.brokers.rabbitmq import RabbitmqBroker

from .common import RABBITMQ_CREDENTIALS


@pytest.fixture
def rabbitmq_broker():
    broker = RabbitmqBroker(host="127.0.0.1", max_priority=10, credentials=RABBITMQ_CREDENTIALS)
    broker.emit_after("process_boot")
    dramatiq.set_broker(broker)
    yield broker
    broker.flush_all()
    broker.close()


@pytest.fixture
def rabbitmq_worker(rabbitmq_broker):
    worker = Worker(rabbitmq_broker, worker_threads=32)
    worker.start()
    yield worker
    worker.stop()
