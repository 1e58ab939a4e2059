#!/usr/bin/env python3
"""Makes the HLO programs of this folder: a training step of Keras' ResNet-50 in mixed precision.

    build/judges/env_jax/bin/python models/resnet50/training/make.py [FOLDER] [--float32]

With --float32, layers compute in float32, too: such a step needs more memory than a core of TPU v2 has, and is not shipped.
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

# Where in the source an instruction comes from is no part of a program.
jax.config.update("jax_traceback_in_locations_limit", 0)

CORES = 8
IMAGES_OF_CORE = 128
SIDE = 224
CLASSES = 1000
# As in the published runs on a Cloud TPU: 0.1 for 256 images, more in proportion for larger batches.
LEARNING_RATE = 0.1
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4

# Variables are float32, and what layers compute is bfloat16, but for means and variances.
IN_FLOAT32 = "--float32" in sys.argv
if not IN_FLOAT32:
    keras.config.set_dtype_policy("mixed_bfloat16")
model = keras.applications.ResNet50(
    weights=None, input_shape=(SIDE, SIDE, 3), classes=CLASSES, classifier_activation=None)
optimizer = keras.optimizers.SGD(LEARNING_RATE, momentum=MOMENTUM)
optimizer.build(model.trainable_variables)
compute_loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def named(variables):
    """Values by the path of their variable, in which no two are the same."""
    found = {}
    for variable in variables:
        assert variable.path not in found, variable.path
        found[variable.path] = variable
    return found


TRAINABLE = named(model.trainable_variables)
OTHERS = named(model.non_trainable_variables)
OF_OPTIMIZER = named(optimizer.variables)


def step(variables, images, labels, mean=lambda x: x):
    """One step of SGD with momentum: the new variables, and the mean loss. `mean` is that over the cores. Means of
    batch normalization are those of a core's images; what is kept of them is the mean over cores."""
    trainable = [variables[path] for path in TRAINABLE]
    others = [variables[path] for path in OTHERS]

    def loss_of(trainable):
        answers, changed = model.stateless_call(trainable, others, images, training=True)
        with jax.named_scope("loss"):
            return compute_loss(labels, answers.astype(jnp.float32)), changed

    (loss, others), gradients = jax.value_and_grad(loss_of, has_aux=True)(trainable)
    with jax.named_scope("average"):
        gradients, others, loss = jax.tree.map(mean, (gradients, others, loss))
    with jax.named_scope("weight_decay"):
        gradients = [gradient + WEIGHT_DECAY * value if path.endswith("kernel") else gradient
                     for path, gradient, value in zip(TRAINABLE, gradients, trainable)]
    trainable, of_optimizer = optimizer.stateless_apply(
        [variables[path] for path in OF_OPTIMIZER], gradients, trainable)
    return dict(zip(TRAINABLE, trainable)) | dict(zip(OTHERS, others)) | dict(zip(OF_OPTIMIZER, of_optimizer)), loss


def step_of_replicas(variables, images, labels):
    split, whole = PartitionSpec("cores"), PartitionSpec()
    return jax.shard_map(
        lambda *arguments: step(*arguments, lambda x: jax.lax.pmean(x, "cores")),
        mesh=Mesh(np.array(jax.devices()), ("cores",)),
        in_specs=(whole, split, split),
        out_specs=(whole, whole),
        check_vma=False,  # else gradients of whole variables are sums over the cores before they are averaged
    )(variables, images, labels)


def write(path, function, *arguments, **options):
    trace = jax.jit(function, **options).trace(*arguments)
    module = trace.lower(lowering_platforms=("tpu",)).compiler_ir("hlo")
    path.write_bytes(module.as_serialized_hlo_module_proto())
    print(f"wrote {path.name}: {path.stat().st_size} bytes")


def main():
    folders = [Path(argument) for argument in sys.argv[1:] if argument != "--float32"]
    if IN_FLOAT32 and not folders:
        sys.exit("--float32 needs a folder: the programs of this one are in mixed precision")
    folder = folders[0] if folders else FOLDER
    variables = {path: jax.ShapeDtypeStruct(variable.shape, variable.dtype)
                 for path, variable in (TRAINABLE | OTHERS | OF_OPTIMIZER).items()}

    def data(images):
        return (jax.ShapeDtypeStruct((images, SIDE, SIDE, 3), jnp.float32),
                jax.ShapeDtypeStruct((images,), jnp.int32))

    write(folder / f"step_{IMAGES_OF_CORE}.hlo", step, variables, *data(IMAGES_OF_CORE), donate_argnums=(0,))
    write(folder / f"step_{CORES}x{IMAGES_OF_CORE}.hlo", step_of_replicas, variables, *data(CORES * IMAGES_OF_CORE),
          donate_argnums=(0,))


if __name__ == "__main__":
    main()
