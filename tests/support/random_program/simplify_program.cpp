#include <algorithm>
#include <deque>
#include <utility>
#include <variant>

#include "hw/isa/fields.h"
#include "tests/support/random_program/simplify.h"

namespace systole::tests {
namespace {

/// Makes the field of one number simpler, counted through the fields of an instruction.
class FieldSimplifier final : public isa::FieldVisitor {
public:
    FieldSimplifier(std::size_t field, FieldStep step) : field_(field), step_(step) {}

    void flags(std::span<const isa::FlagsPart> parts) override {
        for (const isa::FlagsPart& part : parts) {
            if (count_++ != field_) continue;
            if (const auto* flag = std::get_if<isa::FlagField>(&part)) {
                changed_ |= flag->value;
                flag->value = false;
                continue;
            }
            const auto& format = std::get<isa::FormatField>(part);
            const DataType simplest = format.code.formats.front().value();
            changed_ |= format.value != simplest;
            format.value = simplest;
        }
    }
    void host_address(std::uint64_t& address) override { lower(address, 0); }
    void rule(bool /*holds*/, std::string_view /*rule*/) override {}

    bool changed() const { return changed_; }
    std::size_t count() const { return count_; }

protected:
    void visit_number(const isa::NumberField& field, std::uint64_t& value) override {
        lower(value, field.minimum);
    }
    void visit_choice(std::string_view name, std::span<const std::string_view> /*words*/,
                      std::size_t& index) override {
        // Another register or unit would make another instruction.
        std::uint64_t value = index;
        lower(value, name == "operation" ? 0 : value);
        index = value;
    }

private:
    void lower(std::uint64_t& value, std::uint64_t least) {
        if (count_++ != field_ || value <= least) return;
        switch (step_) {
            case FieldStep::Least:
                value = least;
                break;
            case FieldStep::Half:
                if (value / 2 <= least) return;
                value /= 2;
                break;
            case FieldStep::OneLess:
                --value;
                break;
        }
        changed_ = true;
    }

    std::size_t field_;
    FieldStep step_;
    std::size_t count_ = 0;
    bool changed_ = false;
};

/// The tiles that matrix instructions take, instruction by instruction; nothing where one finds none.
std::optional<std::vector<std::vector<std::uint32_t>>> tiles_at_use(const isa::Program& program) {
    std::vector<std::vector<std::uint32_t>> uses(program.instructions.size());
    std::deque<std::uint32_t> fetched;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const isa::Instruction& instruction = program.instructions[i];
        std::size_t wanted = 0;
        if (const auto* read = std::get_if<isa::ReadWeights>(&instruction)) {
            for (std::uint32_t t = 0; t < read->tiles; ++t) fetched.push_back(read->first_tile + t);
        } else if (const auto* multiply = std::get_if<isa::MatrixMultiply>(&instruction)) {
            wanted = multiply->flags.keep_weights ? 0 : multiply->repeat + 1U;
        } else if (const auto* convolve = std::get_if<isa::Convolve>(&instruction)) {
            wanted = convolve->flags.keep_weights ? 0 : convolve->repeat + 1U;
        }
        if (wanted > fetched.size()) return std::nullopt;
        for (; wanted > 0; --wanted) {
            uses[i].push_back(fetched.front());
            fetched.pop_front();
        }
    }
    return uses;
}

void append_reads(const std::vector<std::uint32_t>& tiles, std::vector<isa::Instruction>& instructions) {
    for (std::size_t begin = 0; begin < tiles.size();) {
        std::size_t end = begin + 1;
        while (end < tiles.size() && tiles[end] == tiles[end - 1] + 1) ++end;
        instructions.emplace_back(
            isa::ReadWeights{.first_tile = tiles[begin], .tiles = static_cast<std::uint16_t>(end - begin)});
        begin = end;
    }
}

}  // namespace

std::optional<Case> without(const Case& from, std::size_t first, std::size_t count) {
    Case result = from;
    auto& instructions = result.program.instructions;
    const auto begin = instructions.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    const auto kept = std::stable_partition(
        begin, end, [](const auto& each) { return std::holds_alternative<isa::Halt>(each); });
    if (kept == end) return std::nullopt;
    instructions.erase(kept, end);
    return result;
}

std::optional<Case> with_weights_at_use(const Case& from, std::size_t first, std::size_t count) {
    const auto uses = tiles_at_use(from.program);
    if (!uses) return std::nullopt;
    Case result = from;
    result.program.instructions.clear();
    for (std::size_t i = 0; i < uses->size(); ++i) {
        const isa::Instruction& instruction = from.program.instructions[i];
        const bool removed =
            first <= i && i < first + count && !std::holds_alternative<isa::Halt>(instruction);
        if (removed || std::holds_alternative<isa::ReadWeights>(instruction)) continue;
        append_reads((*uses)[i], result.program.instructions);
        result.program.instructions.push_back(instruction);
    }
    // Never more instructions than before, or taking them out would not come to an end.
    if (result.program.instructions.size() >= from.program.instructions.size()) return std::nullopt;
    return result;
}

std::size_t field_count(const Case& from, std::size_t instruction) {
    isa::Instruction copy = from.program.instructions[instruction];
    FieldSimplifier counter(SIZE_MAX, FieldStep::Least);
    std::visit([&](auto& each) { each.fields(counter); }, copy);
    return counter.count();
}

std::optional<Case> with_simpler_field(const Case& from, std::size_t instruction, std::size_t field,
                                       FieldStep step) {
    Case result = from;
    FieldSimplifier simplifier(field, step);
    std::visit([&](auto& each) { each.fields(simplifier); }, result.program.instructions[instruction]);
    if (!simplifier.changed()) return std::nullopt;
    return result;
}

std::optional<Case> without_last_tile(const Case& from) {
    if (from.program.tiles.empty()) return std::nullopt;
    Case result = from;
    result.program.tiles.pop_back();
    return result;
}

std::optional<Case> with_plain_tile(const Case& from, std::size_t tile) {
    Case result = from;
    isa::WeightTile& plain = result.program.tiles[tile];
    for (std::size_t i = 0; i < plain.values.size(); ++i) {
        plain.values[i] = i % bytes_of(plain.type) == 0 ? 1 : 0;
    }
    plain.useful_macs = plain.rows * plain.columns;
    plain.block_macs.clear();
    if (result.program == from.program) return std::nullopt;
    return result;
}

std::optional<Case> without_blocks(const Case& from) {
    Case result = from;
    for (isa::Instruction& instruction : result.program.instructions) {
        auto* const set = std::get_if<isa::SetConfig>(&instruction);
        if (set == nullptr) continue;
        if (set->reg == isa::Register::BlockWidth || set->reg == isa::Register::BlockHeight) set->value = 1;
    }
    if (result.program == from.program) return std::nullopt;
    return result;
}

std::optional<Case> without_initial_rows(const Case& from, isa::MemoryId memory) {
    Case result = from;
    auto& rows = result.program.initial[memory];
    if (rows.empty()) return std::nullopt;
    rows.clear();
    return result;
}

std::optional<Case> with_plain_buffer(const Case& from, std::size_t buffer) {
    Case result = from;
    auto& contents = result.program.buffers[buffer].contents;
    std::fill(contents.begin(), contents.end(), std::uint8_t{1});
    if (result.program == from.program) return std::nullopt;
    return result;
}

}  // namespace systole::tests
