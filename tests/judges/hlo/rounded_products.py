"""Functions of JAX as a TPU computes them: operands of products are rounded to bfloat16, sums are float32.

A CPU has no such products; so the function is traced, and each product of floats gets rounded operands.

`moved` computes the same with each inexact number moved a little, at random: how far that moves an output says how
near two right answers to it must be.
"""

import jax
import jax.numpy as jnp
from jax.extend import core as extended_core
from jax import lax

PRODUCTS = ("dot_general", "conv_general_dilated")
SUMS = ("reduce_sum", "cumsum", "reduce_window_sum", "scatter-add", "select_and_scatter_add")
# Their last bits are the machine's choice.
FUNCTIONS = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "cumlogsumexp", "cumprod",
    "digamma", "div", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "integer_pow", "lgamma", "log", "log1p",
    "logistic", "pow", "reduce_prod", "rsqrt", "sin", "sinh", "sqrt", "square", "tan", "tanh", "scatter-mul",
    "scatter_mul", "reduce_window",
)

RUNS = 4  # with numbers moved

# In parts of the sum of the addends' sizes, of the result, and of the operands' sizes: a product and the sum behind it
# are rounded once or twice.
OF_SUMS = 1e-5
OF_FUNCTIONS = 1e-6
OF_ADDITIONS = 2.0**-23


def as_bfloat16(x):
    return x.astype(jnp.bfloat16).astype(x.dtype)


def is_float(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


def is_rounded(equation):
    """Whether the program leaves the precision to the chip."""
    precision = equation.params.get("precision")
    stated = precision if isinstance(precision, tuple) else (precision,)
    return all(each in (None, lax.Precision.DEFAULT) for each in stated) and all(
        is_float(variable.aval) for variable in equation.invars
    )


class Evaluation:
    """Evaluates a traced function; with a key, numbers are moved at random."""

    def __init__(self, key=None):
        self.key = key
        self.equations = 0

    def moved(self, x, size, part):
        """x moved up or down by a part of a size, in its own type."""
        self.equations += 1
        key = jax.random.fold_in(self.key, self.equations)
        sign = jax.random.randint(key, x.shape, 0, 2, jnp.uint8).astype(jnp.float32) * 2 - 1
        change = jnp.where(jnp.isfinite(size), size, 0).astype(jnp.float32) * part * sign
        return jnp.where(jnp.isfinite(x), x.astype(jnp.float32) + change, x).astype(x.dtype)

    def evaluate(self, jaxpr, constants, *arguments):
        values = {}

        def read(variable):
            return variable.val if isinstance(variable, extended_core.Literal) else values[variable]

        values.update(zip(jaxpr.constvars, constants))
        values.update(zip(jaxpr.invars, arguments))
        for equation in jaxpr.eqns:
            inputs = [read(variable) for variable in equation.invars]
            values.update(zip(equation.outvars, self.apply(equation, inputs)))
        return [read(variable) for variable in jaxpr.outvars]

    def closed(self, inner):
        return lambda *arguments: self.evaluate(inner.jaxpr, inner.consts, *arguments)

    def product(self, equation, inputs):
        parameters = dict(equation.params)
        type = equation.outvars[0].aval.dtype
        if is_rounded(equation):
            inputs = [as_bfloat16(x.astype(jnp.float32)) for x in inputs]
            parameters.update(precision=lax.Precision.HIGHEST, preferred_element_type=jnp.dtype(jnp.float32))
        result = equation.primitive.bind(*inputs, **parameters)
        if self.key is not None and is_float(result):
            size = equation.primitive.bind(*map(jnp.abs, inputs), **parameters)
            result = self.moved(result, size, OF_SUMS)
        return result.astype(type)

    def changed(self, equation, inputs, result):
        """The result of one primitive, moved as far as it is inexact."""
        name = equation.primitive.name
        if not is_float(result):
            return result
        if name in SUMS:
            sizes = [jnp.abs(x) if is_float(x) else x for x in inputs]
            if name == "select_and_scatter_add":
                sizes[1] = inputs[1]
            return self.moved(result, equation.primitive.bind(*sizes, **equation.params), OF_SUMS)
        if name in ("add", "sub", "add_any"):
            size = jnp.abs(inputs[0]) + jnp.abs(inputs[1])
            return self.moved(result, size.astype(jnp.float32), OF_ADDITIONS)
        if name in FUNCTIONS:
            return self.moved(result, jnp.abs(result), OF_FUNCTIONS)
        return result

    def apply(self, equation, inputs):
        name = equation.primitive.name
        parameters = equation.params
        if name in PRODUCTS:
            return [self.product(equation, inputs)]
        if name == "scan":
            carried, constants = parameters["num_carry"], parameters["num_consts"]
            body = self.closed(parameters["jaxpr"])

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
            condition, body = self.closed(parameters["cond_jaxpr"]), self.closed(parameters["body_jaxpr"])
            first, second = inputs[:of_condition], inputs[of_condition : of_condition + of_body]
            return lax.while_loop(
                lambda state: condition(*first, *state)[0],
                lambda state: body(*second, *state),
                inputs[of_condition + of_body :],
            )
        if name == "cond":
            branches = [self.closed(branch) for branch in parameters["branches"]]
            return lax.switch(inputs[0], branches, *inputs[1:])
        if not name.startswith(("reduce_window", "scatter", "select_and_scatter", "reduce")) or name == "pjit":
            for key in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
                if key in parameters:
                    inner = parameters[key]
                    if isinstance(inner, extended_core.ClosedJaxpr):
                        return self.evaluate(inner.jaxpr, inner.consts, *inputs)
                    return self.evaluate(inner, (), *inputs)
        results = equation.primitive.bind(*inputs, **parameters)
        if equation.primitive.multiple_results:
            return results if self.key is None else [self.changed(equation, inputs, each) for each in results]
        return [results if self.key is None else self.changed(equation, inputs, results)]


def traced_call(function, evaluation_of):
    def call(key, *arguments):
        flat, tree = jax.tree_util.tree_flatten(arguments)
        traced, shape = jax.make_jaxpr(
            lambda *leaves: function(*jax.tree_util.tree_unflatten(tree, leaves)), return_shape=True
        )(*flat)
        results = evaluation_of(key).evaluate(traced.jaxpr, traced.consts, *flat)
        return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(shape), results)

    return call


def rounded(function):
    """The function with products as a TPU makes them."""
    call = traced_call(function, lambda key: Evaluation())
    return lambda *arguments: call(None, *arguments)


def moved(function):
    """The same with each sum moved by 1e-5 of its addends' sizes, up or down as the key, the first argument, says; and
    with each function's result and addition moved by some of their last bits."""
    return traced_call(function, Evaluation)


def primitives_of(jaxpr):
    """The names of all primitives whose results are floats, also in functions that are called."""
    names = set()
    for equation in jaxpr.eqns:
        if any(is_float(variable.aval) for variable in equation.outvars):
            names.add(equation.primitive.name)
        for parameter in equation.params.values():
            for inner in parameter if isinstance(parameter, (tuple, list)) else [parameter]:
                if isinstance(inner, extended_core.ClosedJaxpr):
                    names |= primitives_of(inner.jaxpr)
                elif isinstance(inner, extended_core.Jaxpr):
                    names |= primitives_of(inner)
    return names


def is_exact(function, *arguments):
    """Whether all its numbers are the same on every machine: no sums of several addends, no functions, and nothing that
    a machine may round once or twice."""
    names = primitives_of(jax.make_jaxpr(function)(*arguments).jaxpr)
    inexact = names & {*PRODUCTS, *SUMS, *FUNCTIONS, "random_bits", "cumsum", "exp2"}
    return not inexact and not ("mul" in names and names & {"add", "sub", "add_any"})
