// Which rule an instruction has.
#include <fmt/format.h>

#include <stdexcept>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {

namespace {

using Rule = Arrays (*)(GraphMaker&, const Operation&);

/// Null for what is not compiled.
Rule rule_of(Opcode opcode) {
    switch (opcode) {
        case Opcode::Abs:
        case Opcode::Add:
        case Opcode::And:
        case Opcode::Atan2:
        case Opcode::Cbrt:
        case Opcode::Ceil:
        case Opcode::Clamp:
        case Opcode::Compare:
        case Opcode::Convert:
        case Opcode::Cosine:
        case Opcode::CountLeadingZeros:
        case Opcode::Divide:
        case Opcode::Erf:
        case Opcode::Exponential:
        case Opcode::ExponentialMinusOne:
        case Opcode::Floor:
        case Opcode::IsFinite:
        case Opcode::Log:
        case Opcode::LogPlusOne:
        case Opcode::Logistic:
        case Opcode::Maximum:
        case Opcode::Minimum:
        case Opcode::Multiply:
        case Opcode::Negate:
        case Opcode::Not:
        case Opcode::Or:
        case Opcode::Popcnt:
        case Opcode::Power:
        case Opcode::ReducePrecision:
        case Opcode::Remainder:
        case Opcode::RoundNearestAfz:
        case Opcode::RoundNearestEven:
        case Opcode::Rsqrt:
        case Opcode::Select:
        case Opcode::ShiftLeft:
        case Opcode::ShiftRightArithmetic:
        case Opcode::ShiftRightLogical:
        case Opcode::Sign:
        case Opcode::Sine:
        case Opcode::Sqrt:
        case Opcode::Subtract:
        case Opcode::Tan:
        case Opcode::Tanh:
        case Opcode::Xor:
            return &map_element_wise;
        case Opcode::BitcastConvert:
            return &map_bitcast_convert;
        case Opcode::Broadcast:
            return &map_broadcast;
        case Opcode::Concatenate:
            return &map_concatenate;
        case Opcode::Constant:
            return &map_constant;
        case Opcode::Iota:
            return &map_iota;
        case Opcode::Pad:
            return &map_pad;
        case Opcode::Reshape:
            return &map_reshape;
        case Opcode::Reverse:
            return &map_reverse;
        case Opcode::Slice:
            return &map_slice;
        case Opcode::Transpose:
            return &map_transpose;
        case Opcode::Dot:
            return &map_dot;
        case Opcode::Convolution:
            return &map_convolution;
        case Opcode::Reduce:
            return &map_reduce;
        case Opcode::ReduceWindow:
            return &map_reduce_window;
        case Opcode::SelectAndScatter:
            return &map_select_and_scatter;
        case Opcode::Call:
            return &map_call;
        case Opcode::Map:
            return &map_map;
        case Opcode::While:
            return &map_while;
        case Opcode::Conditional:
            return &map_conditional;
        case Opcode::Copy:
        case Opcode::OptBarrier:
        case Opcode::Tuple:
            return &map_same;
        case Opcode::GetTupleElement:
            return &map_get_tuple_element;
        case Opcode::DynamicSlice:
            return &map_dynamic_slice;
        case Opcode::DynamicUpdateSlice:
            return &map_dynamic_update_slice;
        case Opcode::Gather:
            return &map_gather;
        case Opcode::Scatter:
            return &map_scatter;
        case Opcode::Sort:
            return &map_sort;
        case Opcode::Topk:
            return &map_topk;
        case Opcode::CustomCall:
            return &map_custom_call;
        case Opcode::AllReduce:
            return &map_all_reduce;
        case Opcode::PartitionId:
        case Opcode::ReplicaId:
            return &map_device_number;
        case Opcode::AllGather:
        case Opcode::AllToAll:
        case Opcode::BatchNormGrad:
        case Opcode::BatchNormInference:
        case Opcode::BatchNormTraining:
        case Opcode::Cholesky:
        case Opcode::CollectivePermute:
        case Opcode::Parameter:
        case Opcode::ReduceScatter:
        case Opcode::RngBitGenerator:
        case Opcode::TriangularSolve:
            return nullptr;
    }
    throw std::logic_error("an opcode that does not exist");
}

/// Replicas work on parts.
void check_parts(const Operation& operation) {
    for (const SharedArrays& operand : operation.operands) {
        for (const Array& array : *operand) {
            if (!array.is_global) continue;
            throw ModelError(
                "it works on an array of all devices; programs of several devices are compiled "
                "where shard_map says what each device does");
        }
    }
}

/// Whether it does the same for each element of arrays that it does for single numbers.
bool works_on_elements(Opcode opcode) {
    switch (opcode) {
        case Opcode::BitcastConvert:
        case Opcode::Broadcast:
        case Opcode::Call:
        case Opcode::Conditional:
        case Opcode::Copy:
        case Opcode::GetTupleElement:
        case Opcode::Map:
        case Opcode::OptBarrier:
        case Opcode::Reshape:
        case Opcode::While:
            return true;
        default:
            return rule_of(opcode) == &map_element_wise;
    }
}

/// The graph has arrays of the result's shape. In a computation of single numbers, arrays are of the
/// dimensions of what it is applied to: only instructions that do the same for each element may be in it.
void check_result(const GraphMaker& maker, const Operation& operation) {
    const Shape& shape = maker.result_of(operation);
    if (!shape.is_tuple) static_cast<void>(graph_shape(shape.dimensions));
    if (operation.lifted == nullptr) return;
    const bool is_of_number =
        shape.is_tuple || (shape.is_scalar() &&
                           (operation.operands.empty() || works_on_elements(operation.instruction.opcode)));
    if (!is_of_number) {
        throw ModelError(
            "it is in a computation that is applied to each element of arrays; there, programs are compiled "
            "with element-wise instructions of single numbers");
    }
}

}  // namespace

Arrays map_instruction(GraphMaker& maker, const Operation& operation) {
    const Opcode opcode = operation.instruction.opcode;
    const bool only_passes_on =
        opcode == Opcode::Tuple || opcode == Opcode::GetTupleElement || opcode == Opcode::Call;
    if (!only_passes_on && opcode != Opcode::CustomCall) check_parts(operation);
    const Rule rule = rule_of(opcode);
    if (rule == nullptr)
        throw ModelError(fmt::format("programs with {} are not compiled", traits_of(opcode).name));
    check_result(maker, operation);
    return rule(maker, operation);
}

}  // namespace systole::hlo
