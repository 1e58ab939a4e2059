#include "compiler/frontend/hlo/checked_instruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {

void CheckedInstruction::fail(const std::string& fault) {
    throw ModelError(fault);
}

const Shape& CheckedInstruction::array(std::size_t i) const {
    const Shape& shape = operand(i);
    if (shape.is_tuple) {
        fail(fmt::format("its operand {} is {}; it must be an array", i, text_of(operand_id(i))));
    }
    return shape;
}

const Shape& CheckedInstruction::result_array() const {
    if (result().is_tuple) fail(fmt::format("its result is {}; it must be an array", text_of(result_id())));
    return result();
}

std::vector<ShapeId> CheckedInstruction::results(std::size_t count) const {
    const Shape& shape = result();
    if (count == 1) {
        static_cast<void>(result_array());
        return {result_id()};
    }
    const auto is_array = [&](ShapeId part) { return !module_.shapes[part].is_tuple; };
    if (!shape.is_tuple || shape.parts.size() != count || !std::ranges::all_of(shape.parts, is_array)) {
        fail(fmt::format("its result is {}; it must be a tuple of {} arrays", text_of(result_id()), count));
    }
    return shape.parts;
}

const Computation& CheckedInstruction::called_computation(std::size_t called) const {
    return module_.computations.at(instruction_.called.at(called));
}

std::size_t CheckedInstruction::parameters(std::size_t called) const {
    return called_computation(called).parameters.size();
}

ShapeId CheckedInstruction::parameter_id(std::size_t called, std::size_t number) const {
    const Computation& computation = called_computation(called);
    return computation.instructions.at(computation.parameters.at(number)).shape;
}

ShapeId CheckedInstruction::root_id(std::size_t called) const {
    const Computation& computation = called_computation(called);
    return computation.instructions.at(computation.root).shape;
}

void CheckedInstruction::expect_same_dimensions(std::size_t first, std::size_t second) const {
    if (array(first).dimensions == array(second).dimensions) return;
    fail(fmt::format("its operands are {} and {}; their dimensions must be the same",
                     text_of(operand_id(first)), text_of(operand_id(second))));
}

void CheckedInstruction::expect(ShapeId result) const {
    if (result_id() == result) return;
    fail(fmt::format("its result is {}; by its operands it is {}", text_of(result_id()), text_of(result)));
}

void CheckedInstruction::expect(ElementType type, std::span<const std::int64_t> dimensions) const {
    expect_part(result_id(), type, dimensions);
}

void CheckedInstruction::expect_part(ShapeId part, ElementType type,
                                     std::span<const std::int64_t> dimensions) const {
    const Shape& shape = module_.shapes[part];
    if (!shape.is_tuple && shape.type == type && std::ranges::equal(shape.dimensions, dimensions)) return;
    fail(fmt::format("its result is {}; by its operands it is {}", text_of(part),
                     array_text(type, dimensions)));
}

void check_instruction(const CheckedInstruction& at) {
    switch (traits_of(at.opcode()).rule) {
        case ShapeRule::SameAsOperands:
            return check_same_as_operands(at);
        case ShapeRule::IsFinite:
            return check_is_finite(at);
        case ShapeRule::Compare:
            return check_compare(at);
        case ShapeRule::Select:
            return check_select(at);
        case ShapeRule::Clamp:
            return check_clamp(at);
        case ShapeRule::Convert:
            return check_convert(at);
        case ShapeRule::BitcastConvert:
            return check_bitcast_convert(at);
        case ShapeRule::OptBarrier:
            return at.expect(at.operand_id(0));
        case ShapeRule::Parameter:
        case ShapeRule::Constant:
            return;  // a literal has been read by its shape
        case ShapeRule::Iota:
            return check_iota(at);
        case ShapeRule::Broadcast:
            return check_broadcast(at);
        case ShapeRule::Reshape:
            return check_reshape(at);
        case ShapeRule::Transpose:
            return check_transpose(at);
        case ShapeRule::Reverse:
            return check_reverse(at);
        case ShapeRule::Slice:
            return check_slice(at);
        case ShapeRule::Pad:
            return check_pad(at);
        case ShapeRule::Concatenate:
            return check_concatenate(at);
        case ShapeRule::DynamicSlice:
            return check_dynamic_slice(at);
        case ShapeRule::DynamicUpdateSlice:
            return check_dynamic_update_slice(at);
        case ShapeRule::Gather:
            return check_gather(at);
        case ShapeRule::Scatter:
            return check_scatter(at);
        case ShapeRule::Dot:
            return check_dot(at);
        case ShapeRule::Convolution:
            return check_convolution(at);
        case ShapeRule::Reduce:
            return check_reduce(at);
        case ShapeRule::ReduceWindow:
            return check_reduce_window(at);
        case ShapeRule::SelectAndScatter:
            return check_select_and_scatter(at);
        case ShapeRule::Sort:
            return check_sort(at);
        case ShapeRule::Topk:
            return check_topk(at);
        case ShapeRule::Map:
            return check_map(at);
        case ShapeRule::Tuple:
            return check_tuple(at);
        case ShapeRule::GetTupleElement:
            return check_get_tuple_element(at);
        case ShapeRule::Call:
            return check_call(at);
        case ShapeRule::While:
            return check_while(at);
        case ShapeRule::Conditional:
            return check_conditional(at);
        case ShapeRule::BatchNormTraining:
            return check_batch_norm_training(at);
        case ShapeRule::BatchNormInference:
            return check_batch_norm_inference(at);
        case ShapeRule::BatchNormGrad:
            return check_batch_norm_grad(at);
        case ShapeRule::RngBitGenerator:
            return check_rng_bit_generator(at);
        case ShapeRule::Cholesky:
            return check_cholesky(at);
        case ShapeRule::TriangularSolve:
            return check_triangular_solve(at);
        case ShapeRule::AllReduce:
            return check_all_reduce(at);
        case ShapeRule::AllGather:
            return check_all_gather(at);
        case ShapeRule::ReduceScatter:
            return check_reduce_scatter(at);
        case ShapeRule::AllToAll:
            return check_all_to_all(at);
        case ShapeRule::CollectivePermute:
            return check_collective_permute(at);
        case ShapeRule::DeviceNumber:
            return check_device_number(at);
        case ShapeRule::CustomCall:
            return check_custom_call(at);
    }
    throw std::logic_error("an opcode has an unknown rule");
}

}  // namespace systole::hlo
