"""Functions of JAX as a TPU computes them: operands of products are rounded to bfloat16, sums are float32.

A CPU has no such products; so the function is traced, and each product of floats gets rounded operands.
"""

import jax
import jax.numpy as jnp
from jax.extend import core as extended_core
from jax import lax

PRODUCTS = ("dot_general", "conv_general_dilated")


def as_bfloat16(x):
    return x.astype(jnp.bfloat16).astype(x.dtype)


def is_rounded(equation):
    """Whether the program leaves the precision to the chip."""
    precision = equation.params.get("precision")
    stated = precision if isinstance(precision, tuple) else (precision,)
    return all(each in (None, lax.Precision.DEFAULT) for each in stated) and all(
        variable.aval.dtype == jnp.float32 for variable in equation.invars
    )


def evaluate(jaxpr, constants, *arguments):
    values = {}

    def read(variable):
        return variable.val if isinstance(variable, extended_core.Literal) else values[variable]

    values.update(zip(jaxpr.constvars, constants))
    values.update(zip(jaxpr.invars, arguments))
    for equation in jaxpr.eqns:
        inputs = [read(variable) for variable in equation.invars]
        outputs = apply(equation, inputs)
        values.update(zip(equation.outvars, outputs))
    return [read(variable) for variable in jaxpr.outvars]


def closed(inner):
    return lambda *arguments: evaluate(inner.jaxpr, inner.consts, *arguments)


def apply(equation, inputs):
    name = equation.primitive.name
    parameters = equation.params
    if name in PRODUCTS:
        if is_rounded(equation):
            inputs = [as_bfloat16(x) for x in inputs]
            parameters = dict(parameters, precision=lax.Precision.HIGHEST)
        return [equation.primitive.bind(*inputs, **parameters)]
    if name == "scan":
        carried, constants = parameters["num_carry"], parameters["num_consts"]
        body = closed(parameters["jaxpr"])

        def step(carry, x):
            results = body(*inputs[:constants], *carry, *x)
            return results[:carried], results[carried:]

        last, stacked = lax.scan(
            step,
            inputs[constants : constants + carried],
            inputs[constants + carried :],
            length=parameters["length"],
            reverse=parameters["reverse"],
        )
        return [*last, *stacked]
    if name == "while":
        of_condition, of_body = parameters["cond_nconsts"], parameters["body_nconsts"]
        condition, body = closed(parameters["cond_jaxpr"]), closed(parameters["body_jaxpr"])
        first, second = inputs[:of_condition], inputs[of_condition : of_condition + of_body]
        return lax.while_loop(
            lambda state: condition(*first, *state)[0],
            lambda state: body(*second, *state),
            inputs[of_condition + of_body :],
        )
    if name == "cond":
        branches = [closed(branch) for branch in parameters["branches"]]
        return lax.switch(inputs[0], branches, *inputs[1:])
    for key in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        if key in parameters:
            inner = parameters[key]
            if isinstance(inner, extended_core.ClosedJaxpr):
                return evaluate(inner.jaxpr, inner.consts, *inputs)
            return evaluate(inner, (), *inputs)
    results = equation.primitive.bind(*inputs, **parameters)
    return results if equation.primitive.multiple_results else [results]


def rounded(function):
    """The function with products as a TPU makes them."""

    def call(*arguments):
        flat, tree = jax.tree_util.tree_flatten(arguments)
        traced, shape = jax.make_jaxpr(
            lambda *leaves: function(*jax.tree_util.tree_unflatten(tree, leaves)), return_shape=True
        )(*flat)
        results = evaluate(traced.jaxpr, traced.consts, *flat)
        return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(shape), results)

    return call
