#!/usr/bin/env python3
"""Makes the HLO programs of this folder: training steps of ParaDnn's fully connected networks on eight cores.

    build/judges/env_jax/bin/python models/paradnn/make.py [FOLDER]

tests/judges/make_environment.sh jax makes the environment, with JAX. The programs are what a Cloud TPU's compiler is
given: serialized HLO modules, without anything that names a place on this machine; gzip makes a sixth of their bytes.
"""

import gzip
import os
import sys
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 " + os.environ.get("XLA_FLAGS", "")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, PartitionSpec  # noqa: E402

FOLDER = Path(__file__).resolve().parent

# Where in the source an instruction comes from is no part of a program.
jax.config.update("jax_traceback_in_locations_limit", 0)

CORES = 8
INPUTS = 2000
OUTPUTS = 1000
# Hidden layers, nodes of each, images of all cores: those whose measurements the project has.
NETWORKS = {
    (4, 128): (1024, 2048, 4096, 8192, 16384),
    (4, 256): (2048, 4096, 8192, 16384),
    (4, 512): (2048, 4096, 8192, 16384),
    (4, 1024): (256, 1024, 2048, 4096, 8192),
    (4, 2048): (256, 512, 1024, 2048, 4096, 8192, 16384),
    (4, 4096): (256, 512, 1024, 2048, 4096, 8192, 16384),
    (4, 8192): (256, 512, 1024, 2048, 4096, 8192, 16384),
    (32, 128): (512, 1024, 4096, 8192, 16384),
    (32, 256): (256, 512, 1024, 2048, 4096, 8192, 16384),
    (32, 512): (256, 512, 1024, 2048, 4096, 8192, 16384),
    (32, 1024): (256, 512, 1024, 2048, 4096, 8192, 16384),
    (32, 2048): (256, 512, 1024, 2048, 4096, 8192, 16384),
    (32, 4096): (256, 512, 1024, 2048, 4096, 8192, 16384),
}

# As ParaDnn's program has them.
LEARNING_RATE = 0.1
DECAY = 0.9
MOMENTUM = 0.9
EPSILON = 1.0

SLOTS = ("", "/rms", "/momentum")


def variables_of(layers, nodes):
    """The shapes of variables, by name: kernels and biases with two slots of RMSProp each."""
    widths = [INPUTS] + layers * [nodes] + [OUTPUTS]
    shapes = {}
    for layer in range(layers + 1):
        for name, shape in (("kernel", widths[layer:layer + 2]), ("bias", widths[layer + 1:layer + 2])):
            for slot in SLOTS:
                shapes[f"fc_{layer:02}/{name}{slot}"] = jax.ShapeDtypeStruct(shape, jnp.float32)
    return shapes


def product(a, b, contracted):
    return jax.lax.dot_general(a, b, (((contracted[0],), (contracted[1],)), ((), ())))


def step(variables, images, labels, layers):
    """One step on one of the cores: the new variables, and the mean loss.

    Layers multiply, add and keep bfloat16, variables and the loss are float32. The gradient is written out as
    TensorFlow has it: that of a kernel is the product of the layer's inputs and the gradient of its outputs.
    """
    names = [f"fc_{layer:02}" for layer in range(layers + 1)]
    inputs, kernels = [images], {}
    for name in names:
        with jax.named_scope("forward"), jax.named_scope(name):
            kernels[name] = variables[f"{name}/kernel"].astype(jnp.bfloat16)
            outputs = product(inputs[-1], kernels[name], (1, 0)) + variables[f"{name}/bias"].astype(jnp.bfloat16)
            inputs.append(jnp.maximum(outputs, 0))
    logits = outputs.astype(jnp.float32)  # without ReLU

    with jax.named_scope("loss"):
        is_label = (labels[:, None] == jnp.arange(OUTPUTS)).astype(jnp.float32)
        # As CrossShardOptimizer has it, each core takes its part of the mean loss; sums over the cores are means.
        part = 1 / (CORES * labels.size)
        shares = jax.nn.log_softmax(logits)
        loss = -(shares * is_label).sum() * part
        gradient = ((jnp.exp(shares) - is_label) * part).astype(jnp.bfloat16)

    gradients = {}
    for layer, name in reversed(list(enumerate(names))):
        with jax.named_scope("gradient"), jax.named_scope(name):
            if layer < layers:
                gradient = jnp.where(inputs[layer + 1] > 0, gradient, 0)
            gradients[f"{name}/kernel"] = product(inputs[layer], gradient, (0, 0)).astype(jnp.float32)
            gradients[f"{name}/bias"] = gradient.sum(0).astype(jnp.float32)
            if layer > 0:
                gradient = product(gradient, kernels[name], (1, 1))

    with jax.named_scope("average"):
        loss, gradients = jax.tree.map(lambda x: jax.lax.psum(x, "cores"), (loss, gradients))

    new = {}
    for name, gradient in gradients.items():
        with jax.named_scope("optimizer"), jax.named_scope(name.split("/")[0]):
            value, rms, momentum = (variables[name + slot] for slot in SLOTS)
            rms += (gradient * gradient - rms) * (1 - DECAY)
            momentum = MOMENTUM * momentum + LEARNING_RATE * gradient * jax.lax.rsqrt(rms + EPSILON)
            new |= zip((name + slot for slot in SLOTS), (value - momentum, rms, momentum))
    return new, loss


def write(path, function, *arguments, **options):
    trace = jax.jit(function, **options).trace(*arguments)
    module = trace.lower(lowering_platforms=("tpu",)).compiler_ir("hlo")
    # The same bytes each time.
    path.write_bytes(gzip.compress(module.as_serialized_hlo_module_proto(), mtime=0))
    print(f"wrote {path.name}: {path.stat().st_size} bytes")


def write_step(folder, layers, nodes, batch):
    name = f"fc_{layers}x{nodes}_{INPUTS}_{OUTPUTS}_{batch}"

    def step_of_core(variables, images, labels):
        return step(variables, images, labels, layers)

    split, whole = PartitionSpec("cores"), PartitionSpec()
    # With check_vma, gradients of whole variables would be summed over the cores twice.
    step_of_replicas = jax.shard_map(
        step_of_core, mesh=Mesh(np.array(jax.devices()), ("cores",)),
        in_specs=(whole, split, split), out_specs=(whole, whole), check_vma=False)
    step_of_replicas.__name__ = name  # in reports
    write(folder / f"{name}.hlo.gz", step_of_replicas, variables_of(layers, nodes),
          jax.ShapeDtypeStruct((batch, INPUTS), jnp.bfloat16), jax.ShapeDtypeStruct((batch,), jnp.int32),
          donate_argnums=(0,))


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for (layers, nodes), batches in NETWORKS.items():
        for batch in batches:
            write_step(folder, layers, nodes, batch)


if __name__ == "__main__":
    main()
