"""Training models of Keras, against Keras' own. `make judge-python` has it."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import systole

for needed in ("jax", "keras"):
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed", allow_module_level=True)

import systole.keras  # noqa: E402  # before keras, which otherwise takes another backend
import keras  # noqa: E402
from keras import layers  # noqa: E402

ONE, EIGHT = "tpu_v2_1core", "tpu_v2_8"
#: Operands of products have 8 bits: each product is exact to two half places.
ROUNDING = 2.0**-8
#: Terms of a gradient have both signs: of 64, as much is left as of eight of one sign.
CANCELLATION = 8
CLASSES = 4
RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((64, 12)).astype(np.float32)
Y = RANDOM.integers(0, CLASSES, 64)

Model = Any


def dense(outputs: int = CLASSES, activation: str = "softmax", **options: Any) -> Model:
    hidden = layers.Dense(16, activation="relu", **options)
    return keras.Sequential([layers.Input((12,)), hidden, layers.Dense(outputs, activation=activation)])


def built(make: Callable[[], Model], optimizer: Callable[[], Any], loss: Any) -> Model:
    keras.utils.set_random_seed(5)
    model = make()
    model.compile(optimizer(), loss, metrics=["accuracy"])
    return model


def sgd(**options: Any) -> Any:
    return keras.optimizers.SGD(0.1, **options)


SPARSE = "sparse_categorical_crossentropy"
MODELS: dict[str, tuple[Callable[[], Model], Callable[[], Any], Any, Any, Any]] = {
    "plain": (dense, sgd, SPARSE, X, Y),
    "momentum": (dense, lambda: sgd(momentum=0.9), SPARSE, X, Y[:, np.newaxis]),
    "rows of classes": (dense, lambda: sgd(nesterov=True), "categorical_crossentropy", X, np.eye(CLASSES)[Y]),
    "regularizer": (lambda: dense(kernel_regularizer="l2"), sgd, SPARSE, X, Y),
    "two classes": (lambda: dense(1, "sigmoid"), sgd, "binary_crossentropy", X, Y > 1),
    "schedule and clipping": (
        dense,
        lambda: keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5), global_clipnorm=0.5),
        SPARSE, X, Y,
    ),
    "average": (dense, lambda: sgd(use_ema=True, ema_momentum=0.5), SPARSE, X, Y),
    "LSTM": (
        lambda: keras.Sequential([layers.Input((3, 4)), layers.LSTM(8), layers.Dense(CLASSES, activation="softmax")]),
        sgd, SPARSE, X.reshape(64, 3, 4), Y,
    ),
    "whole numbers": (
        lambda: keras.Sequential(
            [layers.Input((5,), dtype="int32"), layers.Embedding(10, 4), layers.Flatten(), layers.Dense(4, "softmax")]
        ),
        sgd, SPARSE, RANDOM.integers(0, 10, (64, 5)), Y,
    ),
}  # fmt: skip


@pytest.mark.parametrize("machine", [ONE, EIGHT])
@pytest.mark.parametrize("what", MODELS)
def test_steps_of_all_examples_are_those_of_keras(what: str, machine: str) -> None:
    make, optimizer, loss, x, y = MODELS[what]
    model, own = built(make, optimizer, loss), built(make, optimizer, loss)
    before = [np.array(value) for value in own.get_weights()]
    history = systole.keras.fit(model, x, y, batch_size=64, epochs=2, machine=machine, progress=False)
    of_keras = own.fit(x, y, batch_size=64, epochs=2, verbose=0).history
    assert history.epoch == [0, 1]
    assert sorted(history.history) == ["accuracy", "loss"]
    assert history.history["loss"] == pytest.approx(of_keras["loss"], rel=ROUNDING)
    # One of the 64 may be on the border between two classes.
    assert history.history["accuracy"] == pytest.approx(of_keras["accuracy"], abs=1 / 64)
    # Gradients that are summed over cores instead of averaged would be eight times as large.
    chip, float32 = (
        np.concatenate([(np.asarray(a) - b).ravel() for a, b in zip(each.get_weights(), before)])
        for each in (model, own)
    )
    assert np.linalg.norm(chip - float32) <= CANCELLATION * ROUNDING * np.linalg.norm(float32)
    assert int(model.optimizer.iterations.value) == 2
    assert history.record.training.steps == 2
    assert history.record.training.by_step.loss == history.history["loss"]


def test_layers_with_randomness_and_statistics() -> None:
    def make() -> Model:
        return keras.Sequential(
            [
                layers.Input((12,)), layers.Dense(16), layers.BatchNormalization(momentum=0.5), layers.Dropout(0.5),
                layers.Dense(CLASSES, activation="softmax"),
            ]
        )  # fmt: skip

    # Without training of the first layer, the statistics follow from its values.
    model = built(make, lambda: keras.optimizers.SGD(0.0), SPARSE)
    seeds = [variable for variable in model.non_trainable_variables if variable.dtype == "uint32"]
    (key, count) = np.array(seeds[0].value)
    hidden = np.asarray(model.layers[0](X)).reshape(8, 8, 16)
    history = systole.keras.fit(model, X, Y, batch_size=64, epochs=2, progress=False)
    mean, variance = model.layers[1].moving_mean, model.layers[1].moving_variance
    # The batch is all examples in some order: each core has the mean of eight of them, and all cores that of all.
    assert np.asarray(mean) == pytest.approx(0.75 * hidden.mean((0, 1)), abs=ROUNDING * np.abs(hidden).max())
    assert np.all(np.asarray(variance) < 0.25 + 0.75 * hidden.var((0, 1)) * (1 + ROUNDING))
    # Another dropout in each step, with the same weights.
    assert history.history["loss"][0] != history.history["loss"][1]
    assert np.array(seeds[0].value).tolist() == [key, count + 2]


def test_a_training_is_evaluated_and_goes_on(tmp_path: Path) -> None:
    labels = X[:, :CLASSES].argmax(axis=1)
    model = built(dense, lambda: keras.optimizers.Adam(0.02), SPARSE)
    history = systole.keras.fit(
        model, X, labels, 16, epochs=8, machine=ONE, validation_split=0.25, progress=False, out=tmp_path / "kept"
    )
    assert len(history.history["val_accuracy"]) == 8
    # What the chip answered after the last step is what the model now answers.
    right = model.predict(X[48:], verbose=0).argmax(axis=1) == labels[48:]
    assert history.history["val_accuracy"][-1] == pytest.approx(right.mean(), abs=1 / 16)
    assert history.history["loss"][-1] < history.history["loss"][0]
    assert sorted(file.name for file in (tmp_path / "kept").iterdir()) == [
        "checkpoint.npz", "report.html", "report.json", "steps.csv",
    ]  # fmt: skip
    assert history.record.training.steps_an_epoch == 3
    assert f"{history.record.training.cycles_a_step:,} cycles" in history._repr_html_()
    assert repr(history).startswith("<systole.keras.History of 8 epochs: loss ")
    again = systole.keras.fit(
        model, X, labels, 16, machine=ONE, validation_data=(X[48:], labels[48:]), settings={"machine.clock_mhz": 350}
    )
    assert int(model.optimizer.iterations.value) == 24 + 4
    assert again.record.configuration.machine.clock_mhz == 350
    assert len(again.history["val_accuracy"]) == 1
    assert again.history["loss"][0] < history.history["loss"][0]


def two_outputs() -> Model:
    numbers = layers.Input((12,))
    return keras.Model(numbers, [layers.Dense(4)(numbers), layers.Dense(3)(numbers)])


def two_inputs() -> Model:
    numbers = [layers.Input((12,)), layers.Input((12,))]
    return keras.Model(numbers, layers.Dense(4)(layers.Add()(numbers)))


WRONG: list[tuple[Callable[[], Model], dict[str, Any], str]] = [
    (dense, {"batch_size": 12}, "batch_size is 12; the machine has 8 cores, which have equal parts of a batch"),
    (dense, {"batch_size": 128}, "x has 64 examples; a step takes 128"),
    (dense, {"y": Y[:10]}, "x has 64 examples, and y has 10"),
    (dense, {"y": X.sum(axis=1)}, "y: sim train takes classes, "),
    (dense, {"y": X}, "y: sim train takes classes, "),
    (dense, {"y": Y + 1}, "y has class 4; the model has 4 classes, from 0"),
    (dense, {"x": [X, X]}, "x must be an array; systole.keras.fit trains models of one input"),
    (two_inputs, {}, "x must be an array; systole.keras.fit trains models of one input"),
    (dense, {"machine": "tpu_v1"}, "which only machines with tensor cores keep; tpu_v1 has none"),
    (dense, {"machine": "tpu_v9"}, "tpu_v9"),
    (two_outputs, {}, "the model answers list; systole.keras.fit trains models of one row of numbers an example"),
]


@pytest.mark.parametrize(("make", "arguments", "message"), WRONG)
def test_errors(make: Callable[[], Model], arguments: dict[str, Any], message: str) -> None:
    model = built(make, sgd, SPARSE)
    with pytest.raises(systole.Error) as caught:
        systole.keras.fit(model, **{"x": X, "y": Y, "batch_size": 16, "progress": False, **arguments})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) and "/systole_" not in str(caught.value)


def test_a_model_must_be_compiled() -> None:
    with pytest.raises(systole.Error, match=r"^the model has no optimizer; compile it first: "):
        systole.keras.fit(dense(), X, Y)


def test_an_interrupt_keeps_the_values_of_the_last_step(tmp_path: Path) -> None:
    script = (
        "import sys, numpy as np, systole.keras, keras\n"
        "model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2, activation='softmax')])\n"
        "model.compile('sgd', 'sparse_categorical_crossentropy')\n"
        "x = np.ones((8, 4), np.float32)\n"
        "try:\n"
        "    systole.keras.fit(model, x, np.zeros(8), 8, 10**6, 'tpu_v2_1core', out=sys.argv[1])\n"
        "except KeyboardInterrupt:\n"
        "    print(model.optimizer.iterations.value)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, os.fspath(tmp_path)], stdout=subprocess.PIPE, text=True)
    while process.poll() is None and not (tmp_path / "checkpoint.npz").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert process.returncode == 0
    assert int(said) == int(np.load(tmp_path / "checkpoint.npz")["training.steps"])
    assert 0 < int(said) < 10**6
