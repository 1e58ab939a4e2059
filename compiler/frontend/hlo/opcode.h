#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace systole::hlo {

/// What an instruction does. In the order of the alphabet.
enum class Opcode : std::uint8_t {
    Abs,
    Add,
    AllGather,
    AllReduce,
    AllToAll,
    And,
    Atan2,
    BatchNormGrad,
    BatchNormInference,
    BatchNormTraining,
    BitcastConvert,
    Broadcast,
    Call,
    Cbrt,
    Ceil,
    Cholesky,
    Clamp,
    CollectivePermute,
    Compare,
    Concatenate,
    Conditional,
    Constant,
    Convert,
    Convolution,
    Copy,
    Cosine,
    CountLeadingZeros,
    CustomCall,
    Divide,
    Dot,
    DynamicSlice,
    DynamicUpdateSlice,
    Erf,
    Exponential,
    ExponentialMinusOne,
    Floor,
    Gather,
    GetTupleElement,
    Iota,
    IsFinite,
    Log,
    LogPlusOne,
    Logistic,
    Map,
    Maximum,
    Minimum,
    Multiply,
    Negate,
    Not,
    OptBarrier,
    Or,
    Pad,
    Parameter,
    PartitionId,
    Popcnt,
    Power,
    Reduce,
    ReducePrecision,
    ReduceScatter,
    ReduceWindow,
    Remainder,
    ReplicaId,
    Reshape,
    Reverse,
    RngBitGenerator,
    RoundNearestAfz,
    RoundNearestEven,
    Rsqrt,
    Scatter,
    Select,
    SelectAndScatter,
    ShiftLeft,
    ShiftRightArithmetic,
    ShiftRightLogical,
    Sign,
    Sine,
    Slice,
    Sort,
    Sqrt,
    Subtract,
    Tan,
    Tanh,
    Topk,
    Transpose,
    TriangularSolve,
    Tuple,
    While,
    Xor,
};

inline constexpr std::size_t opcode_count = static_cast<std::size_t>(Opcode::Xor) + 1;

/// The rule by which the shape of a result follows from the operands.
enum class ShapeRule : std::uint8_t {
    SameAsOperands,  ///< element-wise, of one type
    IsFinite,
    Compare,
    Select,
    Clamp,
    Convert,
    BitcastConvert,
    OptBarrier,
    Parameter,
    Constant,
    Iota,
    Broadcast,
    Reshape,
    Transpose,
    Reverse,
    Slice,
    Pad,
    Concatenate,
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    Scatter,
    Dot,
    Convolution,
    Reduce,
    ReduceWindow,
    SelectAndScatter,
    Sort,
    Topk,
    Map,
    Tuple,
    GetTupleElement,
    Call,
    While,
    Conditional,
    BatchNormTraining,
    BatchNormInference,
    BatchNormGrad,
    RngBitGenerator,
    Cholesky,
    TriangularSolve,
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    CollectivePermute,
    DeviceNumber,
    CustomCall,
};

/// The attributes of an instruction: which of the structs in module.h it has, and which fields of the file
/// they are read from.
enum class AttributeKind : std::uint8_t {
    None,
    Parameter,
    Constant,
    TupleElement,
    Dimensions,
    Slice,
    DynamicSlice,
    Padding,
    Dot,
    Convolution,
    Window,
    Compare,
    Gather,
    Scatter,
    Sort,
    Topk,
    Collective,
    Permutation,
    RandomBits,
    ReducedPrecision,
    Cholesky,
    TriangularSolve,
    BatchNorm,
    Call,
    CustomCall,
};

/// The types that the operands of an element-wise instruction may have.
enum class OperandTypes : std::uint8_t {
    Any,
    Numbers,        ///< all but pred
    SignedNumbers,  ///< integers with a sign, and floats
    Floats,
    Integers,
    IntegersAndPred,
};

/// Any number of operands, or of called computations.
inline constexpr std::size_t any_number = ~std::size_t{0};

struct OpcodeTraits {
    Opcode opcode = Opcode::Abs;
    std::string_view name;  ///< in files and messages
    std::size_t least_operands = 0;
    std::size_t most_operands = 0;
    ShapeRule rule = ShapeRule::SameAsOperands;
    AttributeKind attributes = AttributeKind::None;
    OperandTypes types = OperandTypes::Any;  ///< for the rule SameAsOperands
    std::size_t least_called = 0;            ///< computations that it calls
    std::size_t most_called = 0;
};

const OpcodeTraits& traits_of(Opcode opcode);

/// The opcode of that name, if the reader takes it.
std::optional<Opcode> find_opcode(std::string_view name);

/// Why the reader refuses an opcode that the format knows; nullopt for unknown names.
std::optional<std::string_view> refusal_of(std::string_view name);

}  // namespace systole::hlo
