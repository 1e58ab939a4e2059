#!/usr/bin/env python3
"""Makes the HLO programs of this folder: a training step of the article's network, and its forward pass.

    build/judges/env_jax/bin/python models/mnist_cnn/training/make.py [FOLDER]

tests/judges/make_environment.sh jax makes the environment, with Keras 3 and JAX. The programs are what a Cloud TPU's compiler is given:
serialized HLO modules, without anything that names a place on this machine.
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

model = make_model(keras, momentum=MOMENTUM)
optimizer = keras.optimizers.Adam(LEARNING_RATE)
optimizer.build(model.trainable_variables)
compute_loss = keras.losses.SparseCategoricalCrossentropy()


def named(variables):
    """Values by the path of their variable, in which no two are the same."""
    found = {}
    for variable in variables:
        path = variable.path.removeprefix("dropout/")
        assert path not in found, path
        found[path] = variable
    return found


TRAINABLE = named(model.trainable_variables)
OTHERS = named(model.non_trainable_variables)
OF_OPTIMIZER = named(optimizer.variables)


def shapes(*groups, seeds_of=1):
    """The shapes of variables; each core has random numbers of its own."""
    found = {path: jax.ShapeDtypeStruct(variable.shape, variable.dtype)
             for group in groups for path, variable in group.items()}
    if SEEDS in found:
        found[SEEDS] = jax.ShapeDtypeStruct((seeds_of, 2), jnp.uint32)
    return found


def step(variables, images, labels, mean=lambda x: x):
    """One step of Adam: the new variables, the mean loss, and the share of right answers. `mean` is that over the
    cores. Means of batch normalization are those of a core's images; what is kept of them is the mean over cores."""
    variables = dict(variables) | {SEEDS: variables[SEEDS][0]}
    trainable = [variables[path] for path in TRAINABLE]
    others = [variables[path] for path in OTHERS]

    def loss_of(trainable):
        answers, changed = model.stateless_call(trainable, others, images, training=True)
        with jax.named_scope("loss"):
            return compute_loss(labels, answers), (answers, changed)

    (loss, (answers, others)), gradients = jax.value_and_grad(loss_of, has_aux=True)(trainable)
    with jax.named_scope("accuracy"):
        accuracy = (answers.argmax(1) == labels).astype(jnp.float32).mean()
    others = dict(zip(OTHERS, others))
    seeds = others.pop(SEEDS)
    with jax.named_scope("average"):
        gradients, others, loss, accuracy = jax.tree.map(mean, (gradients, others, loss, accuracy))
    trainable, of_optimizer = optimizer.stateless_apply(
        [variables[path] for path in OF_OPTIMIZER], gradients, trainable)
    new = dict(zip(TRAINABLE, trainable)) | others | {SEEDS: seeds[None]} | dict(zip(OF_OPTIMIZER, of_optimizer))
    return new, loss, accuracy


def step_of_replicas(variables, images, labels):
    split, whole = PartitionSpec("cores"), PartitionSpec()
    of_variables = {path: split if path == SEEDS else whole for path in variables}
    return jax.shard_map(
        lambda *arguments: step(*arguments, lambda x: jax.lax.pmean(x, "cores")),
        mesh=Mesh(np.array(jax.devices()), ("cores",)),
        in_specs=(of_variables, split, split),
        out_specs=(of_variables, whole, whole),
    )(variables, images, labels)


def forward(variables, images):
    """The answers for images, with the means that were kept."""
    others = [variables.get(path, jnp.zeros((2,), jnp.uint32)) for path in OTHERS]
    return model.stateless_call([variables[path] for path in TRAINABLE], others, images, training=False)[0]


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
    of_model = {path: variable for path, variable in OTHERS.items() if path != SEEDS}
    for images in IMAGES_OF_CORE:
        variables = shapes(TRAINABLE, OTHERS, OF_OPTIMIZER)
        write(folder / f"step_{images}.hlo", step, variables, *data(images), donate_argnums=(0,))
        variables = shapes(TRAINABLE, OTHERS, OF_OPTIMIZER, seeds_of=CORES)
        write(folder / f"step_{CORES}x{images}.hlo", step_of_replicas, variables, *data(CORES * images))
    write(folder / "forward.hlo", forward, shapes(TRAINABLE, of_model), data(100)[0])


if __name__ == "__main__":
    main()
