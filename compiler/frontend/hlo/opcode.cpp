#include "compiler/frontend/hlo/opcode.h"

#include <algorithm>
#include <array>
#include <utility>

namespace systole::hlo {
namespace {

/// In the order of the enumeration.
constexpr std::array<OpcodeTraits, opcode_count> opcode_traits{{
    {Opcode::Abs, "abs", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::SignedNumbers},
    {Opcode::Add, "add", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Any},
    {Opcode::AllGather, "all-gather", 1, any_number, ShapeRule::AllGather, AttributeKind::Collective},
    {Opcode::AllReduce, "all-reduce", 1, any_number, ShapeRule::AllReduce, AttributeKind::Collective,
     OperandTypes::Any, 1, 1},
    {Opcode::AllToAll, "all-to-all", 1, 1, ShapeRule::AllToAll, AttributeKind::Collective},
    {Opcode::And, "and", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::IntegersAndPred},
    {Opcode::Atan2, "atan2", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::BatchNormGrad, "batch-norm-grad", 5, 5, ShapeRule::BatchNormGrad, AttributeKind::BatchNorm},
    {Opcode::BatchNormInference, "batch-norm-inference", 5, 5, ShapeRule::BatchNormInference,
     AttributeKind::BatchNorm},
    {Opcode::BatchNormTraining, "batch-norm-training", 3, 3, ShapeRule::BatchNormTraining,
     AttributeKind::BatchNorm},
    {Opcode::BitcastConvert, "bitcast-convert", 1, 1, ShapeRule::BitcastConvert, AttributeKind::None},
    {Opcode::Broadcast, "broadcast", 1, 1, ShapeRule::Broadcast, AttributeKind::Dimensions},
    {Opcode::Call, "call", 0, any_number, ShapeRule::Call, AttributeKind::Call, OperandTypes::Any, 1, 1},
    {Opcode::Cbrt, "cbrt", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::Ceil, "ceil", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::Cholesky, "cholesky", 1, 1, ShapeRule::Cholesky, AttributeKind::Cholesky},
    {Opcode::Clamp, "clamp", 3, 3, ShapeRule::Clamp, AttributeKind::None},
    {Opcode::CollectivePermute, "collective-permute", 1, 1, ShapeRule::CollectivePermute,
     AttributeKind::Permutation},
    {Opcode::Compare, "compare", 2, 2, ShapeRule::Compare, AttributeKind::Compare},
    {Opcode::Concatenate, "concatenate", 1, any_number, ShapeRule::Concatenate, AttributeKind::Dimensions},
    {Opcode::Conditional, "conditional", 2, any_number, ShapeRule::Conditional, AttributeKind::None,
     OperandTypes::Any, 1, any_number},
    {Opcode::Constant, "constant", 0, 0, ShapeRule::Constant, AttributeKind::Constant},
    {Opcode::Convert, "convert", 1, 1, ShapeRule::Convert, AttributeKind::None},
    {Opcode::Convolution, "convolution", 2, 2, ShapeRule::Convolution, AttributeKind::Convolution},
    {Opcode::Copy, "copy", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Any},
    {Opcode::Cosine, "cosine", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::CountLeadingZeros, "count-leading-zeros", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Integers},
    {Opcode::CustomCall, "custom-call", 0, any_number, ShapeRule::CustomCall, AttributeKind::CustomCall},
    {Opcode::Divide, "divide", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Numbers},
    {Opcode::Dot, "dot", 2, 2, ShapeRule::Dot, AttributeKind::Dot},
    {Opcode::DynamicSlice, "dynamic-slice", 1, any_number, ShapeRule::DynamicSlice,
     AttributeKind::DynamicSlice},
    {Opcode::DynamicUpdateSlice, "dynamic-update-slice", 2, any_number, ShapeRule::DynamicUpdateSlice,
     AttributeKind::None},
    {Opcode::Erf, "erf", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::Exponential, "exponential", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Floats},
    {Opcode::ExponentialMinusOne, "exponential-minus-one", 1, 1, ShapeRule::SameAsOperands,
     AttributeKind::None, OperandTypes::Floats},
    {Opcode::Floor, "floor", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::Gather, "gather", 2, 2, ShapeRule::Gather, AttributeKind::Gather},
    {Opcode::GetTupleElement, "get-tuple-element", 1, 1, ShapeRule::GetTupleElement,
     AttributeKind::TupleElement},
    {Opcode::Iota, "iota", 0, 0, ShapeRule::Iota, AttributeKind::Dimensions},
    {Opcode::IsFinite, "is-finite", 1, 1, ShapeRule::IsFinite, AttributeKind::None},
    {Opcode::Log, "log", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::LogPlusOne, "log-plus-one", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Floats},
    {Opcode::Logistic, "logistic", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Floats},
    {Opcode::Map, "map", 1, any_number, ShapeRule::Map, AttributeKind::Dimensions, OperandTypes::Any, 1, 1},
    {Opcode::Maximum, "maximum", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Any},
    {Opcode::Minimum, "minimum", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Any},
    {Opcode::Multiply, "multiply", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Any},
    {Opcode::Negate, "negate", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Numbers},
    {Opcode::Not, "not", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::IntegersAndPred},
    {Opcode::OptBarrier, "opt-barrier", 1, 1, ShapeRule::OptBarrier, AttributeKind::None},
    {Opcode::Or, "or", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::IntegersAndPred},
    {Opcode::Pad, "pad", 2, 2, ShapeRule::Pad, AttributeKind::Padding},
    {Opcode::Parameter, "parameter", 0, 0, ShapeRule::Parameter, AttributeKind::Parameter},
    {Opcode::PartitionId, "partition-id", 0, 0, ShapeRule::DeviceNumber, AttributeKind::None},
    {Opcode::Popcnt, "popcnt", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Integers},
    {Opcode::Power, "power", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Numbers},
    {Opcode::Reduce, "reduce", 2, any_number, ShapeRule::Reduce, AttributeKind::Dimensions, OperandTypes::Any,
     1, 1},
    {Opcode::ReducePrecision, "reduce-precision", 1, 1, ShapeRule::SameAsOperands,
     AttributeKind::ReducedPrecision, OperandTypes::Floats},
    {Opcode::ReduceScatter, "reduce-scatter", 1, 1, ShapeRule::ReduceScatter, AttributeKind::Collective,
     OperandTypes::Any, 1, 1},
    {Opcode::ReduceWindow, "reduce-window", 2, any_number, ShapeRule::ReduceWindow, AttributeKind::Window,
     OperandTypes::Any, 1, 1},
    {Opcode::Remainder, "remainder", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Numbers},
    {Opcode::ReplicaId, "replica-id", 0, 0, ShapeRule::DeviceNumber, AttributeKind::None},
    {Opcode::Reshape, "reshape", 1, 1, ShapeRule::Reshape, AttributeKind::None},
    {Opcode::Reverse, "reverse", 1, 1, ShapeRule::Reverse, AttributeKind::Dimensions},
    {Opcode::RngBitGenerator, "rng-bit-generator", 1, 1, ShapeRule::RngBitGenerator,
     AttributeKind::RandomBits},
    {Opcode::RoundNearestAfz, "round-nearest-afz", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Floats},
    {Opcode::RoundNearestEven, "round-nearest-even", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Floats},
    {Opcode::Rsqrt, "rsqrt", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::Scatter, "scatter", 3, any_number, ShapeRule::Scatter, AttributeKind::Scatter, OperandTypes::Any,
     1, 1},
    {Opcode::Select, "select", 3, 3, ShapeRule::Select, AttributeKind::None},
    {Opcode::SelectAndScatter, "select-and-scatter", 3, 3, ShapeRule::SelectAndScatter, AttributeKind::Window,
     OperandTypes::Any, 2, 2},
    {Opcode::ShiftLeft, "shift-left", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Integers},
    {Opcode::ShiftRightArithmetic, "shift-right-arithmetic", 2, 2, ShapeRule::SameAsOperands,
     AttributeKind::None, OperandTypes::Integers},
    {Opcode::ShiftRightLogical, "shift-right-logical", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Integers},
    {Opcode::Sign, "sign", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::SignedNumbers},
    {Opcode::Sine, "sine", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::Slice, "slice", 1, 1, ShapeRule::Slice, AttributeKind::Slice},
    {Opcode::Sort, "sort", 1, any_number, ShapeRule::Sort, AttributeKind::Sort, OperandTypes::Any, 1, 1},
    {Opcode::Sqrt, "sqrt", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::Subtract, "subtract", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None,
     OperandTypes::Numbers},
    {Opcode::Tan, "tan", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::Tanh, "tanh", 1, 1, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::Floats},
    {Opcode::Topk, "topk", 1, 1, ShapeRule::Topk, AttributeKind::Topk},
    {Opcode::Transpose, "transpose", 1, 1, ShapeRule::Transpose, AttributeKind::Dimensions},
    {Opcode::TriangularSolve, "triangular-solve", 2, 2, ShapeRule::TriangularSolve,
     AttributeKind::TriangularSolve},
    {Opcode::Tuple, "tuple", 0, any_number, ShapeRule::Tuple, AttributeKind::None},
    {Opcode::While, "while", 1, 1, ShapeRule::While, AttributeKind::None, OperandTypes::Any, 2, 2},
    {Opcode::Xor, "xor", 2, 2, ShapeRule::SameAsOperands, AttributeKind::None, OperandTypes::IntegersAndPred},
}};

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < opcode_count; ++i) {
        if (opcode_traits[i].opcode != static_cast<Opcode>(i)) return false;
    }
    return true;
}
static_assert(is_in_order());

struct RefusedOpcode {
    std::string_view name;
    std::string_view reason;
};

constexpr std::string_view optimized =
    "it belongs to a module that was compiled for another machine; the module before optimization is read";
constexpr std::string_view not_static = "shapes must be static";
constexpr std::string_view has_complex = "complex numbers are not supported";
constexpr std::string_view has_token = "programs that talk to the host or to others are not supported";
constexpr std::string_view no_work = "it is not supported";

constexpr std::array<RefusedOpcode, 46> refused_opcodes{{
    {"acos", no_work},
    {"acosh", no_work},
    {"add-dependency", has_token},
    {"after-all", has_token},
    {"all-gather-done", optimized},
    {"all-gather-start", optimized},
    {"all-reduce-done", optimized},
    {"all-reduce-start", optimized},
    {"asin", no_work},
    {"asinh", no_work},
    {"async-done", optimized},
    {"async-start", optimized},
    {"async-update", optimized},
    {"atanh", no_work},
    {"bitcast", optimized},
    {"collective-broadcast", no_work},
    {"collective-permute-done", optimized},
    {"collective-permute-start", optimized},
    {"complex", has_complex},
    {"copy-done", optimized},
    {"copy-start", optimized},
    {"cosh", no_work},
    {"domain", optimized},
    {"dynamic-reshape", not_static},
    {"fft", has_complex},
    {"fusion", optimized},
    {"get-dimension-size", not_static},
    {"imag", has_complex},
    {"infeed", has_token},
    {"mulhi", no_work},
    {"outfeed", has_token},
    {"ragged-all-to-all", no_work},
    {"ragged-dot", no_work},
    {"real", has_complex},
    {"recv", has_token},
    {"recv-done", has_token},
    {"rng", "its numbers are the machine's own; rng-bit-generator has stated ones"},
    {"rng-get-and-update-state", "its numbers are the machine's own; rng-bit-generator has stated ones"},
    {"scaled-dot", no_work},
    {"scan", no_work},
    {"send", has_token},
    {"send-done", has_token},
    {"set-dimension-size", not_static},
    {"sinh", no_work},
    {"stochastic-convert", no_work},
    {"trace", no_work},
}};

}  // namespace

const OpcodeTraits& traits_of(Opcode opcode) {
    return opcode_traits.at(static_cast<std::size_t>(opcode));
}

std::optional<Opcode> find_opcode(std::string_view name) {
    // The names are in the order of the enumeration, which is that of the alphabet but for the hyphens.
    static const auto by_name = [] {
        std::array<std::pair<std::string_view, Opcode>, opcode_count> names;
        for (std::size_t i = 0; i < opcode_count; ++i)
            names[i] = {opcode_traits[i].name, opcode_traits[i].opcode};
        std::ranges::sort(names);
        return names;
    }();
    const auto* const found =
        std::ranges::lower_bound(by_name, name, {}, &std::pair<std::string_view, Opcode>::first);
    if (found == by_name.end() || found->first != name) return std::nullopt;
    return found->second;
}

std::optional<std::string_view> refusal_of(std::string_view name) {
    const auto* const found = std::ranges::find(refused_opcodes, name, &RefusedOpcode::name);
    if (found == refused_opcodes.end()) return std::nullopt;
    return found->reason;
}

}  // namespace systole::hlo
