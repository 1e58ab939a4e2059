#!/usr/bin/env python3
"""Makes the HLO programs of this folder: a training step of the article's network, and its forward pass.

    build/judges/env_jax/bin/python models/mnist_cnn/training/make.py [FOLDER]

tests/judges/make_environment.sh jax makes the environment, with Keras 3 and JAX. The programs are what a Cloud TPU's
compiler is given: serialized HLO modules, without anything that names a place on this machine.
"""

import os
import sys
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 " + os.environ.get("XLA_FLAGS", "")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, PartitionSpec  # noqa: E402

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from model import MNIST_SIDE, make_model  # noqa: E402

# Where in the source an instruction comes from is no part of a program.
jax.config.update("jax_traceback_in_locations_limit", 0)

CORES = 8
IMAGES_OF_CORE = (8, 16, 32, 64, 128, 256, 512, 1024)
LEARNING_RATE = 1e-3
# Training takes tens of steps here: means that move by a hundredth each would not arrive.
MOMENTUM = 0.9
SEEDS = "seed_generator/seed_generator_state"


def named(variables):
    """Values by the path of their variable, in which no two are the same."""
    found = {}
    for variable in variables:
        path = variable.path.removeprefix("dropout/")
        assert path not in found, path
        found[path] = variable
    return found


class Training:
    """The network with an optimizer, as functions of all their variables."""

    def __init__(self, optimizer):
        self.model = make_model(keras, momentum=MOMENTUM)
        self.optimizer = optimizer
        self.optimizer.build(self.model.trainable_variables)
        self.loss = keras.losses.SparseCategoricalCrossentropy()
        self.trainable = named(self.model.trainable_variables)
        self.others = named(self.model.non_trainable_variables)
        self.of_optimizer = named(self.optimizer.variables)

    def values(self):
        """Those of all variables at first."""
        groups = (self.trainable, self.others, self.of_optimizer)
        found = {path: np.asarray(variable.value) for group in groups for path, variable in group.items()}
        return found | {SEEDS: found[SEEDS].reshape(1, 2)}

    def shapes(self, cores=1):
        """Each core has random numbers of its own."""
        found = {path: jax.ShapeDtypeStruct(value.shape, value.dtype) for path, value in self.values().items()}
        return found | {SEEDS: jax.ShapeDtypeStruct((cores, 2), jnp.uint32)}

    def shapes_of_answers(self):
        kept = {*self.trainable, *self.others} - {SEEDS}
        return {path: shape for path, shape in self.shapes().items() if path in kept}

    def step(self, variables, images, labels, mean=lambda x: x):
        """The new variables, the mean loss, and the share of right answers. `mean` is that over the cores. Means of
        batch normalization are those of a core's images; what is kept of them is the mean over the cores."""
        variables = dict(variables) | {SEEDS: variables[SEEDS][0]}
        trainable = [variables[path] for path in self.trainable]
        others = [variables[path] for path in self.others]

        def loss_of(trainable):
            answers, changed = self.model.stateless_call(trainable, others, images, training=True)
            with jax.named_scope("loss"):
                return self.loss(labels, answers), (answers, changed)

        (loss, (answers, others)), gradients = jax.value_and_grad(loss_of, has_aux=True)(trainable)
        with jax.named_scope("accuracy"):
            accuracy = (answers.argmax(1) == labels).astype(jnp.float32).mean()
        others = dict(zip(self.others, others))
        seeds = others.pop(SEEDS)
        with jax.named_scope("average"):
            gradients, others, loss, accuracy = jax.tree.map(mean, (gradients, others, loss, accuracy))
        trainable, of_optimizer = self.optimizer.stateless_apply(
            [variables[path] for path in self.of_optimizer], gradients, trainable
        )
        new = dict(zip(self.trainable, trainable)) | dict(zip(self.of_optimizer, of_optimizer)) | others
        return new | {SEEDS: seeds[None]}, loss, accuracy

    def step_of_replicas(self, variables, images, labels):
        split, whole = PartitionSpec("cores"), PartitionSpec()
        of_variables = {path: split if path == SEEDS else whole for path in variables}
        return jax.shard_map(
            lambda *arguments: self.step(*arguments, lambda x: jax.lax.pmean(x, "cores")),
            mesh=Mesh(np.array(jax.devices()), ("cores",)),
            in_specs=(of_variables, split, split),
            out_specs=(of_variables, whole, whole),
            # With this check, gradients of what all cores share would be summed over them before their mean.
            check_vma=False,
        )(variables, images, labels)

    def forward(self, variables, images):
        """The answers for images, by the means that are kept."""
        others = [variables.get(path, jnp.zeros((2,), jnp.uint32)) for path in self.others]
        trainable = [variables[path] for path in self.trainable]
        return self.model.stateless_call(trainable, others, images, training=False)[0]


def write(path, function, *arguments, **options):
    trace = jax.jit(function, **options).trace(*arguments)
    module = trace.lower(lowering_platforms=("tpu",)).compiler_ir("hlo")
    path.write_bytes(module.as_serialized_hlo_module_proto())
    print(f"wrote {path.name}: {path.stat().st_size} bytes")


def data(images):
    return (jax.ShapeDtypeStruct((images, MNIST_SIDE * MNIST_SIDE), jnp.float32),
            jax.ShapeDtypeStruct((images,), jnp.int32))


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    training = Training(keras.optimizers.Adam(LEARNING_RATE))
    for images in IMAGES_OF_CORE:
        write(folder / f"step_{images}.hlo", training.step, training.shapes(), *data(images), donate_argnums=(0,))
        write(folder / f"step_{CORES}x{images}.hlo", training.step_of_replicas, training.shapes(CORES),
              *data(CORES * images))
    write(folder / "forward.hlo", training.forward, training.shapes_of_answers(), data(100)[0])


if __name__ == "__main__":
    main()
