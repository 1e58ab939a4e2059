"""The list of operators, and what several of them share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from draw import Draw
from tflite_file import TfliteFile

# A function draws a file for one kind of numbers: "float32", "float16" (its weights), "hybrid"
# (int8 weights, float activations: "dynamic range"), "int8", "uint8", "int16".
Make = Callable[[Draw, str], TfliteFile]


@dataclass
class TfliteOperator:
    name: str
    types: Sequence[str]
    weight: int  # how many cases it gets, relative to the others
    make: Make


OPERATORS: list[TfliteOperator] = []


def tflite(name: str, *types: str, weight: int = 1) -> Callable[[Make], Make]:
    """Registers a function that draws files of an operator."""

    def register(make: Make) -> Make:
        OPERATORS.append(TfliteOperator(name, types, weight, make))
        return make

    return register


# Members of the schema's ActivationFunctionType that convolutions and element-wise operators take.
NO_ACTIVATION, RELU, RELU_N1_TO_1, RELU6 = 0, 1, 2, 3


def any_activation(draw: Draw) -> int:
    return draw.choice([NO_ACTIVATION, NO_ACTIVATION, RELU, RELU_N1_TO_1, RELU6])


SAME, VALID = 0, 1
