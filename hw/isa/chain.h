#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/word_operation.h"

namespace systole::isa {

struct Program;

/// How a source of a chain is spread over the elements that the chain computes.
enum class Spread : std::uint8_t {
    Rows,    ///< an element for each
    Row,     ///< one row, in one row of each panel: the same for all rows
    Column,  ///< an element of a single panel for each row and lane: the same for all panels
    Result,  ///< what the first result's element was before
};

/// "rows", "row", "column", "result": the names used in assembly, in the order of the enumeration.
std::span<const std::string_view> spread_names();

/// A source or result of a chain. Packed ones are bfloat16, two rows in one; a source becomes float32, and a
/// result is rounded.
struct ChainSource {
    Spread spread = Spread::Rows;
    bool packed = false;  ///< only of Rows

    bool operator==(const ChainSource&) const = default;
};
struct ChainResult {
    std::uint8_t value = 0;
    bool packed = false;

    bool operator==(const ChainResult&) const = default;
};

/// An operation on values before it: the sources are values 0, 1, ..., then come the steps' results in order.
struct ChainStep {
    WordOperation operation = WordOperation::Constant;
    std::vector<std::uint8_t> operands = {};  ///< as many as the operation has
    std::uint32_t constant = 0;               ///< of WordOperation::Constant

    bool operator==(const ChainStep&) const = default;
};

/// Element-wise work on rows of vector memory, for `chain` instructions: what it computes for each element.
struct Chain {
    std::string name;  ///< not empty; that of no other chain
    std::vector<ChainSource> sources = {};
    std::vector<ChainStep> steps = {};
    std::vector<ChainResult> results = {};

    std::size_t values() const { return sources.size() + steps.size(); }
    bool operator==(const Chain&) const = default;
};

/// The most values of a chain. No more may be needed at a time than the vector unit of a Cloud TPU has
/// registers: `broken_rule` checks it.
inline constexpr std::size_t most_chain_values = 64;

/// The first rule that is broken, or nullopt.
std::optional<std::string> broken_rule(const Chain& chain);

}  // namespace systole::isa
