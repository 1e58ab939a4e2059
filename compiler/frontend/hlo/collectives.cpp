// Rules of what devices do together, and of what differs between them.
#include <fmt/format.h>

#include <array>

#include "base/message_text.h"
#include "compiler/frontend/hlo/checked_instruction.h"

namespace systole::hlo {
namespace {

/// The size of the axis of the operand and of the result that is joined or split.
struct Extents {
    std::int64_t operand = 0;
    std::int64_t result = 0;
};

Extents extents_along(const CheckedInstruction& at, std::size_t i, ShapeId result) {
    const Shape& operand = at.array(i);
    const Shape& part = at.shape(result);
    const std::int64_t axis = at.attributes<Collective>().axis;
    check_axes("its dimension", std::array{axis}, operand.rank());
    Numbers dimensions = operand.dimensions;
    const auto place = static_cast<std::size_t>(axis);
    if (part.rank() == operand.rank()) dimensions[place] = part.dimensions[place];
    at.expect_part(result, operand.type, dimensions);
    return {operand.dimensions[place], part.dimensions[place]};
}

/// Devices of a group; 0 if all are one group, of which the module does not say the size.
std::int64_t group_size(const CheckedInstruction& at) {
    const auto& groups = at.attributes<Collective>().groups;
    return groups.empty() ? 0 : static_cast<std::int64_t>(groups.front().size());
}

/// Fails unless `whole` is `part` for each device of a group.
void check_whole(const CheckedInstruction& at, std::int64_t whole, std::int64_t part) {
    const std::int64_t devices = group_size(at);
    const bool fits = devices == 0 ? (part == 0 ? whole == 0 : whole % part == 0) : whole == part * devices;
    if (fits) return;
    CheckedInstruction::fail(fmt::format(
        "its dimension has size {} as a whole and {} on each device; the whole must be {}", whole, part,
        devices == 0 ? "a multiple of it"
                     : fmt::format("{}, for {}", part * devices,
                                   counted(static_cast<std::size_t>(devices), "device"))));
}

}  // namespace

void check_all_reduce(const CheckedInstruction& at) {
    const std::vector<ShapeId> results = at.results(at.operands());
    for (std::size_t i = 0; i < at.operands(); ++i) {
        const Shape& operand = at.array(i);
        at.expect_part(results[i], operand.type, operand.dimensions);
        if (operand.type != at.array(0).type)
            CheckedInstruction::fail(fmt::format("its operands are {} and {}; their types must be the same",
                                                 at.text_of(at.operand_id(0)), at.text_of(at.operand_id(i))));
        if (i == 0) check_combiner(at, 0, std::span(&operand.type, 1));
    }
}

void check_all_gather(const CheckedInstruction& at) {
    const std::vector<ShapeId> results = at.results(at.operands());
    for (std::size_t i = 0; i < at.operands(); ++i) {
        const Extents extents = extents_along(at, i, results[i]);
        check_whole(at, extents.result, extents.operand);
    }
}

void check_reduce_scatter(const CheckedInstruction& at) {
    const Extents extents = extents_along(at, 0, at.result_id());
    check_combiner(at, 0, std::span(&at.array(0).type, 1));
    check_whole(at, extents.operand, extents.result);
}

void check_all_to_all(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const std::int64_t axis = at.attributes<Collective>().axis;
    check_axes("its dimension", std::array{axis}, operand.rank());
    const std::int64_t devices = group_size(at);
    const std::int64_t extent = extent_of(operand, axis);
    if (devices != 0 && extent % devices != 0) {
        CheckedInstruction::fail(
            fmt::format("its dimension has size {}; it must be a multiple of {}, the devices of a group",
                        extent, devices));
    }
    at.expect(at.operand_id(0));
}

void check_collective_permute(const CheckedInstruction& at) {
    static_cast<void>(at.array(0));
    at.expect(at.operand_id(0));
}

void check_device_number(const CheckedInstruction& at) {
    at.expect(ElementType::U32, {});
}

void check_rng_bit_generator(const CheckedInstruction& at) {
    // A key and a counter: of 64 bits with Threefry, of 64 or 128 with Philox. The default is one of them.
    const Shape& state = at.array(0);
    const RandomAlgorithm algorithm = at.attributes<RandomBits>().algorithm;
    const bool may_be_long = algorithm != RandomAlgorithm::Threefry;
    const bool is_short = state.dimensions == Numbers{2};
    if (state.type != ElementType::U64 || !(is_short || (may_be_long && state.dimensions == Numbers{3}))) {
        CheckedInstruction::fail(fmt::format("its state is {}; with rng_algorithm {} it must be {}",
                                             at.text_of(at.operand_id(0)), static_cast<int>(algorithm),
                                             may_be_long ? "u64[2] or u64[3]" : "u64[2]"));
    }
    const std::vector<ShapeId> results = at.results(2);
    at.expect_part(results[0], state.type, state.dimensions);
    const Shape& bits = at.shape(results[1]);
    if (!traits_of(bits.type).is_integer) {
        CheckedInstruction::fail(
            fmt::format("its bits are {}; they must be integers", at.text_of(results[1])));
    }
}

}  // namespace systole::hlo
