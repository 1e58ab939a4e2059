#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "compiler/frontend/hlo/axes.h"
#include "compiler/frontend/hlo/module.h"

namespace systole::hlo {

/// An instruction whose operands and called computations have been read, with what its rules ask about it.
/// All faults are thrown as ModelError, without the instruction's place.
class CheckedInstruction {
public:
    CheckedInstruction(const Module& module, const Computation& computation, const Instruction& instruction)
        : module_(module), computation_(computation), instruction_(instruction) {}

    template <typename Kind>
    const Kind& attributes() const {
        return attributes_of<Kind>(instruction_);
    }
    Opcode opcode() const { return instruction_.opcode; }

    std::size_t operands() const { return instruction_.operands.size(); }
    ShapeId operand_id(std::size_t i) const {
        return computation_.instructions.at(instruction_.operands.at(i)).shape;
    }
    const Shape& operand(std::size_t i) const { return module_.shapes[operand_id(i)]; }
    /// An operand that must be an array.
    const Shape& array(std::size_t i) const;

    ShapeId result_id() const { return instruction_.shape; }
    const Shape& result() const { return module_.shapes[instruction_.shape]; }
    /// The result, which must be an array.
    const Shape& result_array() const;
    /// Results of instructions with one or several: the only one, which must be an array, or the parts of a
    /// tuple, which must be so many arrays.
    std::vector<ShapeId> results(std::size_t count) const;

    const Shape& shape(ShapeId id) const { return module_.shapes[id]; }
    std::string text_of(ShapeId id) const { return module_.shapes.text_of(id); }

    std::size_t called() const { return instruction_.called.size(); }
    /// The number of parameters of a called computation, the shape of one of them, and that of its root.
    std::size_t parameters(std::size_t called) const;
    ShapeId parameter_id(std::size_t called, std::size_t number) const;
    ShapeId root_id(std::size_t called) const;

    /// Fails unless two operands are arrays of the same dimensions.
    void expect_same_dimensions(std::size_t first, std::size_t second) const;
    void expect(ShapeId result) const;
    void expect(ElementType type, std::span<const std::int64_t> dimensions) const;
    /// The same for a part of the result.
    void expect_part(ShapeId part, ElementType type, std::span<const std::int64_t> dimensions) const;
    [[noreturn]] static void fail(const std::string& fault);

private:
    const Computation& called_computation(std::size_t called) const;

    const Module& module_;
    const Computation& computation_;
    const Instruction& instruction_;
};

/// Throws ModelError if an instruction breaks a rule of its opcode: the shapes of operands and result, the
/// computations that it calls.
void check_instruction(const CheckedInstruction& at);

// The rules, by families.

// element_wise.cpp
void check_same_as_operands(const CheckedInstruction& at);
void check_is_finite(const CheckedInstruction& at);
void check_compare(const CheckedInstruction& at);
void check_select(const CheckedInstruction& at);
void check_clamp(const CheckedInstruction& at);
void check_convert(const CheckedInstruction& at);
void check_bitcast_convert(const CheckedInstruction& at);

// movement.cpp
void check_iota(const CheckedInstruction& at);
void check_broadcast(const CheckedInstruction& at);
void check_reshape(const CheckedInstruction& at);
void check_transpose(const CheckedInstruction& at);
void check_reverse(const CheckedInstruction& at);
void check_slice(const CheckedInstruction& at);
void check_pad(const CheckedInstruction& at);
void check_concatenate(const CheckedInstruction& at);

// indexing.cpp
void check_dynamic_slice(const CheckedInstruction& at);
void check_dynamic_update_slice(const CheckedInstruction& at);
void check_gather(const CheckedInstruction& at);
void check_scatter(const CheckedInstruction& at);

// products.cpp
void check_dot(const CheckedInstruction& at);
void check_convolution(const CheckedInstruction& at);
void check_cholesky(const CheckedInstruction& at);
void check_triangular_solve(const CheckedInstruction& at);
void check_batch_norm_training(const CheckedInstruction& at);
void check_batch_norm_inference(const CheckedInstruction& at);
void check_batch_norm_grad(const CheckedInstruction& at);

// reductions.cpp
void check_reduce(const CheckedInstruction& at);
void check_reduce_window(const CheckedInstruction& at);
void check_select_and_scatter(const CheckedInstruction& at);
void check_sort(const CheckedInstruction& at);
void check_topk(const CheckedInstruction& at);
/// The extents of the result of a window that moves over an array; 0 where the window does not fit.
std::vector<std::int64_t> windowed_extents(std::span<const std::int64_t> extents,
                                           std::span<const WindowDimension> window);
/// Fails unless a called computation has so many parameters, or a scalar of the type as one of them.
void check_parameter_count(const CheckedInstruction& at, std::size_t called, std::size_t count);
void check_parameter(const CheckedInstruction& at, std::size_t called, std::size_t number, ElementType type);
/// Fails unless a called computation takes scalars of all `types` in this order, and then again, and returns
/// one of each.
void check_combiner(const CheckedInstruction& at, std::size_t called, std::span<const ElementType> types);

// control.cpp
void check_tuple(const CheckedInstruction& at);
void check_get_tuple_element(const CheckedInstruction& at);
void check_map(const CheckedInstruction& at);
void check_call(const CheckedInstruction& at);
void check_while(const CheckedInstruction& at);
void check_conditional(const CheckedInstruction& at);
void check_custom_call(const CheckedInstruction& at);

// collectives.cpp
void check_all_reduce(const CheckedInstruction& at);
void check_all_gather(const CheckedInstruction& at);
void check_reduce_scatter(const CheckedInstruction& at);
void check_all_to_all(const CheckedInstruction& at);
void check_collective_permute(const CheckedInstruction& at);
void check_device_number(const CheckedInstruction& at);
void check_rng_bit_generator(const CheckedInstruction& at);

}  // namespace systole::hlo
