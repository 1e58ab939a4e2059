// Ranges of 64-bit integers: where 32 bits are known to be enough.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

// NOLINTNEXTLINE(modernize-use-using): __extension__ goes with typedef alone.
__extension__ typedef __int128 Wide;  // holds sums and products of 64-bit numbers

/// nullopt if an end leaves 64 bits.
std::optional<Interval> interval(Wide low, Wide high) {
    constexpr Wide least = std::numeric_limits<std::int64_t>::min();
    constexpr Wide most = std::numeric_limits<std::int64_t>::max();
    if (low < least || high > most) return std::nullopt;
    return Interval{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

/// Between which numbers the elements of an integer array are.
std::optional<Interval> range_of(const GraphMaker& maker, const Array& array) {
    if (has_64_bits(array.type)) return array.range;
    constexpr std::uint64_t most_read = 4096;
    const bool is_small = maker.value(array.id).shape.elements() <= most_read;
    if (const auto words = is_small ? maker.words_of(array) : std::nullopt) {
        Interval range{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
        for (const std::uint32_t each : *words) {
            const auto number =
                is_signed(array.type) ? std::int64_t{static_cast<std::int32_t>(each)} : std::int64_t{each};
            range = {std::min(range.low, number), std::max(range.high, number)};
        }
        return range;
    }
    if (is_signed(array.type))
        return Interval{static_cast<std::int32_t>(lowest_word(array.type)), highest_word(array.type)};
    return Interval{0, highest_word(array.type)};
}

}  // namespace

std::optional<Interval> united(const std::optional<Interval>& a, const std::optional<Interval>& b) {
    if (!a || !b) return std::nullopt;
    return Interval{std::min(a->low, b->low), std::max(a->high, b->high)};
}

std::optional<Interval> result_range(const GraphMaker& maker, const Operation& operation, ElementType type) {
    std::vector<Interval> in;
    const Opcode opcode = operation.instruction.opcode;
    for (std::size_t i = opcode == Opcode::Select ? 1 : 0; i < operation.operands.size(); ++i) {
        if (is_float(operation.operand(i).type)) return std::nullopt;
        const auto range = range_of(maker, operation.operand(i));
        if (!range) return std::nullopt;
        in.push_back(*range);
    }
    const auto without_sign = [&](std::optional<Interval> range) {
        // Numbers without a sign wrap below 0.
        return range && is_unsigned(type) && range->low < 0 ? std::nullopt : range;
    };
    const auto product_of = [](const Interval& a, const Interval& b) {
        const Wide ends[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                             Wide{a.high} * b.high};
        return interval(*std::ranges::min_element(ends), *std::ranges::max_element(ends));
    };
    switch (opcode) {
        case Opcode::Add:
            return without_sign(interval(Wide{in[0].low} + in[1].low, Wide{in[0].high} + in[1].high));
        case Opcode::Subtract:
            return without_sign(interval(Wide{in[0].low} - in[1].high, Wide{in[0].high} - in[1].low));
        case Opcode::Multiply:
            return without_sign(product_of(in[0], in[1]));
        case Opcode::Negate:
            return without_sign(interval(-Wide{in[0].high}, -Wide{in[0].low}));
        case Opcode::Convert:
            return without_sign(in[0]);
        case Opcode::Select:
            return united(in[0], in[1]);
        case Opcode::Maximum:
            return Interval{std::max(in[0].low, in[1].low), std::max(in[0].high, in[1].high)};
        case Opcode::Minimum:
            return Interval{std::min(in[0].low, in[1].low), std::min(in[0].high, in[1].high)};
        case Opcode::And:
            // At most the smaller one of two numbers without a sign.
            if (in[0].low < 0 || in[1].low < 0) return std::nullopt;
            return Interval{0, std::min(in[0].high, in[1].high)};
        case Opcode::Or:
        case Opcode::Xor: {
            if (in[0].low < 0 || in[1].low < 0) return std::nullopt;
            const auto most = static_cast<std::uint64_t>(std::max(in[0].high, in[1].high));
            return interval(0, (Wide{1} << std::bit_width(most)) - 1);
        }
        case Opcode::ShiftRightLogical:
        case Opcode::ShiftRightArithmetic: {
            if (in[0].low < 0 || in[1].low < 0) return std::nullopt;
            const auto shifted = [](std::int64_t number, std::int64_t amount) {
                return amount > 63 ? 0 : number >> amount;
            };
            return Interval{shifted(in[0].low, in[1].high), shifted(in[0].high, in[1].low)};
        }
        case Opcode::ShiftLeft: {
            if (in[0].low < 0 || in[1].low < 0 || in[1].high > 62) return std::nullopt;
            return interval(Wide{in[0].low} << in[1].low, Wide{in[0].high} << in[1].high);
        }
        default:
            return std::nullopt;
    }
}

bool needs_lower_halves(Opcode opcode, ElementType to) {
    switch (opcode) {
        case Opcode::Add:
        case Opcode::Subtract:
        case Opcode::Multiply:
        case Opcode::Negate:
        case Opcode::And:
        case Opcode::Or:
        case Opcode::Xor:
        case Opcode::Not:
        case Opcode::Select:
            return true;
        case Opcode::Convert:
            return !is_float(to) && to != ElementType::Pred;
        default:
            return false;
    }
}

ElementType number_in_32_bits(const GraphMaker& maker, const Array& array) {
    if (!has_64_bits(array.type)) return array.type;
    const bool has_sign = array.type == ElementType::S64;
    const Interval fits{has_sign ? std::int64_t{std::numeric_limits<std::int32_t>::min()} : 0,
                        has_sign ? std::int64_t{std::numeric_limits<std::int32_t>::max()}
                                 : std::int64_t{std::numeric_limits<std::uint32_t>::max()}};
    const auto range = range_of(maker, array);
    if (range && range->low >= fits.low && range->high <= fits.high)
        return has_sign ? ElementType::S32 : ElementType::U32;
    throw ModelError(fmt::format(
        "its operand of {} may be {}; 64-bit integers are computed where 32 bits are known to be enough",
        traits_of(array.type).name,
        range ? fmt::format("from {} to {}", range->low, range->high) : "any number"));
}

}  // namespace systole::hlo
