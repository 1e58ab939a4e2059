"""Trains models of Keras 3 on a simulated Cloud TPU: ``pip install systole[keras]``. ``docs/jax.md`` describes it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Union

import numpy as np
from numpy.typing import NDArray

if "keras" not in sys.modules:
    os.environ.setdefault("KERAS_BACKEND", "jax")
try:
    import jax
    import jax.numpy as jnp
    import keras
except ImportError as error:
    raise ImportError(f"systole.keras needs Keras 3 and JAX, pip install 'systole[keras]': {error}") from None

from ._errors import Error
from ._record import Record
from ._run import machine as machine_keys
from ._train import Arrays, TrainingData, TrainingPrograms, train
from .jax import cores_of, program_of

FilePath = Union[str, "os.PathLike[str]"]

__all__ = ["History", "fit"]

_AXIS = "cores"
_SEED = "seed_generator_state"
_SEED_STEP = 0x9E3779B9  # far from the other cores' keys: 2^32 divided by the golden ratio
_RESULTS = ("loss", "accuracy")


@dataclass(frozen=True, eq=False)
class History:
    """What a training has shown, as the History of Keras, and the report."""

    #: A list by epoch of each "loss", "accuracy" and, with examples to evaluate on, "val_accuracy".
    history: dict[str, list[float]]
    #: The numbers of the epochs, from 0.
    epoch: list[int]
    #: The report: the first steps, and in ``record.training`` how long all of them take and each step's results.
    record: Record

    def __repr__(self) -> str:
        last = ", ".join(f"{name} {values[-1]:.4f}" for name, values in self.history.items() if values)
        return f"<systole.keras.History of {len(self.epoch)} epochs: {last}>"

    def _repr_html_(self) -> str:
        return self.record._repr_html_()


class _Variables:
    """The variables of a model and its optimizer, by names in which no two are alike."""

    def __init__(self, model: Any) -> None:
        self._taken: set[str] = set()
        self.trainable = self._named(model.trainable_variables)
        self.others = self._named(model.non_trainable_variables)
        self.of_optimizer = self._named(model.optimizer.variables)
        self.all = {**self.trainable, **self.others, **self.of_optimizer}
        #: Keys of random numbers, of which each core has its own.
        self.seeds = [name for name, each in self.others.items() if each.name == _SEED]

    def _named(self, variables: list[Any]) -> dict[str, Any]:
        found = {}
        for variable in variables:
            name, number = variable.path, 1
            while name in self._taken:
                number += 1
                name = f"{variable.path}#{number}"
            self._taken.add(name)
            found[name] = variable
        return found

    def values(self, cores: int) -> dict[str, NDArray[Any]]:
        found = {name: np.asarray(variable.value) for name, variable in self.all.items()}
        for name in self.seeds:
            seeds = np.tile(found[name], (cores, 1))
            seeds[:, 0] += np.arange(cores, dtype=np.uint32) * np.uint32(_SEED_STEP)
            found[name] = seeds
        return found

    def assign(self, values: Arrays) -> None:
        for name, variable in self.all.items():
            value = values[_input_name(name)]
            variable.assign(value[0] if name in self.seeds else value)


def _input_name(variable: str) -> str:
    """What JAX calls it in the program."""
    return f"variables[{variable!r}]"


def _is_binary(answers: Any) -> bool:
    return bool(answers.shape[-1] == 1)


def _accuracy(labels: Any, answers: Any) -> Any:
    """The share of right answers, as Keras takes it by the shapes."""
    if _is_binary(answers):
        return ((answers > 0.5) == (labels.reshape(answers.shape) > 0.5)).astype(jnp.float32).mean()
    if labels.shape == answers.shape:
        labels = labels.argmax(-1)
    return (answers.argmax(-1) == labels.reshape(answers.shape[:-1])).astype(jnp.float32).mean()


class _Programs:
    """The step and the forward pass of a model."""

    def __init__(self, model: Any, variables: _Variables, cores: int) -> None:
        self._model = model
        self._variables = variables
        self._cores = cores

    def step(self, variables: Any, images: Any, labels: Any, mean: Callable[[Any], Any] = lambda each: each) -> Any:
        """The new variables, the loss, and the share of right answers, of one core; ``mean`` is that over all cores."""
        names, optimizer = self._variables, self._model.optimizer
        values = {name: each[0] if name in names.seeds else each for name, each in variables.items()}
        of_optimizer = [values[name] for name in names.of_optimizer]

        def loss_of(trainable: list[Any]) -> Any:
            return self._model.compute_loss_and_updates(
                trainable,
                [values[name] for name in names.others],
                [variable.value for variable in self._model.metrics_variables],
                images,
                labels,
                None,
                training=True,
                optimizer_variables=of_optimizer,
            )

        (_, (loss, answers, changed, _)), gradients = jax.value_and_grad(loss_of, has_aux=True)(
            [values[name] for name in names.trainable]
        )
        with jax.named_scope("accuracy"):
            accuracy = _accuracy(labels, answers)
        others = dict(zip(names.others, changed))
        averaged = {
            name: each
            for name, each in others.items()
            if name not in names.seeds and jnp.issubdtype(each.dtype, jnp.floating)
        }
        with jax.named_scope("average"):
            gradients, averaged, loss, accuracy = jax.tree.map(mean, (gradients, averaged, loss, accuracy))
        others.update(averaged)
        with jax.named_scope(optimizer.name):
            trainable, of_optimizer = optimizer.stateless_apply(
                of_optimizer, gradients, [values[name] for name in names.trainable]
            )
        new = {**dict(zip(names.trainable, trainable)), **others, **dict(zip(names.of_optimizer, of_optimizer))}
        for name in names.seeds:
            new[name] = new[name][None]
        return new, loss.astype(jnp.float32), accuracy

    def step_of_all_cores(self, variables: Any, images: Any, labels: Any) -> Any:
        split, whole = jax.sharding.PartitionSpec(_AXIS), jax.sharding.PartitionSpec()
        of_variables = {name: split if name in self._variables.seeds else whole for name in variables}

        def mean(each: Any) -> Any:
            return jax.lax.pmean(each, _AXIS)

        # Without the check of what is alike on all cores, which would sum each gradient over them by itself.
        return jax.shard_map(
            lambda variables, images, labels: self.step(variables, images, labels, mean),
            mesh=jax.sharding.AbstractMesh((self._cores,), (_AXIS,)),
            in_specs=(of_variables, split, split),
            out_specs=(of_variables, whole, whole),
            check_vma=False,
        )(variables, images, labels)

    def forward(self, variables: Any, images: Any) -> Any:
        """A number for each class."""
        others = self._variables.others
        answers, _ = self._model.stateless_call(
            [variables[name] for name in self._variables.trainable],
            [variables.get(name, jnp.zeros(each.shape, each.dtype)) for name, each in others.items()],
            images,
            training=False,
        )
        answers = answers.astype(jnp.float32)
        if _is_binary(answers):  # the larger of one half and the answer
            answers = jnp.concatenate([jnp.full_like(answers, 0.5), answers], axis=-1)
        return answers

    def make(self, values: Arrays, x: NDArray[Any], y: NDArray[Any], batch: int) -> TrainingPrograms:
        def shapes(arrays: Arrays) -> Any:
            return {name: jax.ShapeDtypeStruct(each.shape, each.dtype) for name, each in arrays.items()}

        def examples(array: NDArray[Any], count: int) -> Any:
            return jax.ShapeDtypeStruct((count, *array.shape[1:]), array.dtype)

        read = [*self._variables.trainable, *self._variables.others]
        of_model = {name: values[name] for name in read if name not in self._variables.seeds}
        step = self.step if self._cores == 1 else self.step_of_all_cores
        state = {
            "schema": "sim.training/1",
            "state": [{"input": "0", "output": "0", "count": len(values)}],
            "images": "images",
            "labels": "labels",
            "columns": {name: str(len(values) + place) for place, name in enumerate(_RESULTS)},
            "initial": [{"inputs": "*", "rule": "zeros"}],  # all of them are given
        }

        def named_step(variables: Any, images: Any, labels: Any) -> Any:
            return step(variables, images, labels)

        named_step.__name__ = f"{self._model.name}_step"
        return TrainingPrograms(
            step=program_of(named_step, shapes(values), examples(x, batch), examples(y, batch)),
            forward=program_of(self.forward, shapes(of_model), examples(x, batch // self._cores)),
            state=state,
        )


def _examples(model: Any, x: Any, name: str) -> NDArray[Any]:
    """As the model takes them."""
    inputs = getattr(model, "inputs", None) or []
    if len(inputs) > 1 or isinstance(x, (list, tuple, dict)):
        raise Error(f"{name} must be an array; systole.keras.fit trains models of one input")
    array = np.asarray(x)
    if inputs:
        return array.astype(str(inputs[0].dtype))
    return array.astype(np.float32 if array.dtype.kind == "f" else np.int32)


def _labels(y: Any, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """As the loss takes them, and the class of each example."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] > 1:
        classes = array.argmax(axis=1)
        if np.array_equal(array, np.eye(array.shape[1])[classes]):
            return array.astype(np.float32), classes.astype(np.uint32)
    elif array.ndim in (1, 2):
        classes = array.reshape(-1)
        if np.array_equal(classes, np.abs(classes).astype(np.uint32)):
            is_float = array.dtype.kind == "f"
            return classes.astype(np.float32 if is_float else np.int32), classes.astype(np.uint32)
    raise Error(f"{name}: sim train takes classes, as whole numbers or rows with a single 1; other targets it does not")


def _check(model: Any, x: NDArray[Any], classes: NDArray[Any], batch: int, cores: int) -> None:
    if len(x) != len(classes):
        raise Error(f"x has {len(x)} examples, and y has {len(classes)}")
    if batch < 1 or batch % cores != 0:
        raise Error(f"batch_size is {batch}; the machine has {cores} cores, which have equal parts of a batch")
    if len(x) < batch:
        raise Error(f"x has {len(x)} examples; a step takes {batch}")
    if not getattr(model, "compiled", False) or model.optimizer is None:
        raise Error("the model has no optimizer; compile it first: model.compile(optimizer, loss)")
    if not model.built:
        model(x[:1])
    answers = model(keras.KerasTensor((batch, *x.shape[1:]), str(x.dtype)))
    if not isinstance(answers, keras.KerasTensor) or len(answers.shape) != 2:
        shape = getattr(answers, "shape", type(answers).__name__)
        raise Error(f"the model answers {shape}; systole.keras.fit trains models of one row of numbers an example")
    if classes.max() >= max(answers.shape[1], 2):
        raise Error(f"y has class {classes.max()}; the model has {max(answers.shape[1], 2)} classes, from 0")
    model.optimizer.build(model.trainable_variables)


def fit(
    model: Any,
    x: Any,
    y: Any,
    batch_size: int = 32,
    epochs: int = 1,
    machine: Union[FilePath, Mapping[str, Any]] = "tpu_v2_8",
    validation_split: float = 0.0,
    validation_data: Optional[tuple[Any, Any]] = None,
    *,
    seed: int = 1,
    settings: Optional[Mapping[str, Any]] = None,
    out: Optional[FilePath] = None,
    progress: bool = True,
) -> History:
    """Trains a compiled model as ``model.fit`` does, on a simulated chip, which leaves its values in the model.

    ``batch_size`` is that of all cores; each core takes an equal part, and gradients, kept statistics and results are
    averaged over them. ``y`` has classes. Batches come in the order of ``sim train``, which ``seed`` settles; examples
    that fill no batch are left out. ``machine`` and ``settings`` are those of ``systole.run``. ``out`` is a folder to
    keep the report, its page, each step's results and a checkpoint. Ctrl-C finishes the step and keeps its values.

    Raises Error with the simulator's message.
    """
    if keras.backend.backend() != "jax":
        raise Error(f"Keras runs on {keras.backend.backend()}; set KERAS_BACKEND=jax before it is imported")
    keys = machine_keys(machine, settings)
    cores = cores_of(keys)
    examples = _examples(model, x, "x")
    labels, classes = _labels(y, "y")
    _check(model, examples, classes, batch_size, cores)
    validation = None
    if validation_data is not None:
        of_validation = _examples(model, validation_data[0], "validation_data")
        validation = (of_validation, _labels(validation_data[1], "validation_data")[1])
    variables = _Variables(model)
    values = variables.values(cores)
    record = train(
        model.name,
        _Programs(model, variables, cores).make(values, examples, labels, batch_size),
        {_input_name(name): value for name, value in values.items()},
        TrainingData(examples, classes, 0.0 if validation else validation_split, validation),
        variables.assign,
        machine=keys,
        batch=batch_size,
        epochs=epochs,
        seed=seed,
        out=out,
        progress=progress,
    )
    model.optimizer.finalize_variable_values(model.trainable_variables)
    return _history(record)


def _history(record: Record) -> History:
    history: dict[str, list[float]] = {}
    for epoch in record.training.by_epoch:
        for name in _RESULTS:
            history.setdefault(name, []).append(_number(epoch.means[name]))
        if epoch.evaluated is not None:
            history.setdefault("val_accuracy", []).append(float(epoch.evaluated))
    return History(history, [epoch.epoch - 1 for epoch in record.training.by_epoch], record)


def _number(value: Optional[float]) -> float:
    """Of the report, in which what is no number is null."""
    return float("nan") if value is None else float(value)
