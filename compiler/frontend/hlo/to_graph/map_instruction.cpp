// Which rule an instruction has.
#include <fmt/format.h>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {

namespace {

/// Replicas work on parts.
void check_parts(const Operation& operation) {
    for (const Arrays& operand : operation.operands) {
        for (const Array& array : operand) {
            if (!array.is_global) continue;
            throw ModelError(
                "it works on an array of all devices; programs of several devices are compiled "
                "where shard_map (or pmap) says what each device does");
        }
    }
}

}  // namespace

Arrays map_instruction(GraphMaker& maker, const Operation& operation) {
    const Opcode opcode = operation.instruction.opcode;
    if (opcode != Opcode::Tuple && opcode != Opcode::GetTupleElement && opcode != Opcode::CustomCall)
        check_parts(operation);
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
            return map_element_wise(maker, operation);
        case Opcode::BitcastConvert:
            return map_bitcast_convert(maker, operation);
        case Opcode::Broadcast:
            return map_broadcast(maker, operation);
        case Opcode::Concatenate:
            return map_concatenate(maker, operation);
        case Opcode::Constant:
            return map_constant(maker, operation);
        case Opcode::Iota:
            return map_iota(maker, operation);
        case Opcode::Pad:
            return map_pad(maker, operation);
        case Opcode::Reshape:
            return map_reshape(maker, operation);
        case Opcode::Reverse:
            return map_reverse(maker, operation);
        case Opcode::Slice:
            return map_slice(maker, operation);
        case Opcode::Transpose:
            return map_transpose(maker, operation);
        case Opcode::Dot:
            return map_dot(maker, operation);
        case Opcode::Convolution:
            return map_convolution(maker, operation);
        case Opcode::Reduce:
            return map_reduce(maker, operation);
        case Opcode::ReduceWindow:
            return map_reduce_window(maker, operation);
        case Opcode::SelectAndScatter:
            return map_select_and_scatter(maker, operation);
        case Opcode::Call:
            return map_call(maker, operation);
        case Opcode::Map:
            return map_map(maker, operation);
        case Opcode::While:
            return map_while(maker, operation);
        case Opcode::Conditional:
            return map_conditional(maker, operation);
        case Opcode::Copy:
        case Opcode::OptBarrier:
            return map_same(maker, operation);
        case Opcode::Tuple:
            return map_tuple(maker, operation);
        case Opcode::GetTupleElement:
            return map_get_tuple_element(maker, operation);
        case Opcode::DynamicSlice:
            return map_dynamic_slice(maker, operation);
        case Opcode::DynamicUpdateSlice:
            return map_dynamic_update_slice(maker, operation);
        case Opcode::Gather:
            return map_gather(maker, operation);
        case Opcode::Scatter:
            return map_scatter(maker, operation);
        case Opcode::Sort:
            return map_sort(maker, operation);
        case Opcode::Topk:
            return map_topk(maker, operation);
        case Opcode::CustomCall:
            return map_custom_call(maker, operation);
        case Opcode::AllReduce:
            return map_all_reduce(maker, operation);
        case Opcode::PartitionId:
        case Opcode::ReplicaId:
            return map_device_number(maker, operation);
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
            break;
    }
    throw ModelError(
        fmt::format("programs with {} are not compiled", traits_of(operation.instruction.opcode).name));
}

}  // namespace systole::hlo
