#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/isa/assembly/constants.h"
#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/assembly/operands.h"
#include "hw/isa/assembly/values.h"
#include "hw/isa/program.h"

namespace systole::isa {

/// Builds the parts of a program other than instructions, from the statements that begin with a dot.
class Directives {
public:
    /// Both must outlive the object. Constants are added where they are declared.
    Directives(Program& program, Constants& constants) : program_(program), constants_(constants) {}

    /// Processes the statement and returns true if it is a directive. Throws ProgramError with its place.
    bool take(Operands& operands);

    /// The host buffers declared so far.
    const HostAddresses& addresses() const { return addresses_; }

    /// Checks the rules of the declaration with values that came last, because later statements cannot add
    /// values to it. Repeated calls have no effect.
    void close();

private:
    void array(Operands& operands);
    void tiles(Operands& operands);
    void tensor_core(Operands& operands);
    /// A program says once what machine it is for.
    void begin_geometry(Operands& operands);
    /// Throws if there are weight tiles or initial rows.
    void check_no_buffer(Operands& operands) const;
    // Parts of the last chain.
    void chain(Operands& operands);
    void chain_source(Operands& operands);
    void chain_step(Operands& operands);
    void chain_result(Operands& operands);
    Chain& last_chain(Operands& operands);
    void model(Operands& operands);
    void layer(Operands& operands);
    void input(Operands& operands);
    void output(Operands& operands);
    void state(Operands& operands);
    void resident(Operands& operands);
    void arrays(Operands& operands);
    void constant_output(Operands& operands);
    void host_operation(Operands& operands);
    void host_segment(Operands& operands);
    // Parts of the last host segment.
    void segment_layers(Operands& operands);
    void segment_reads(Operands& operands);
    void segment_writes(Operands& operands);
    void segment_graph(Operands& operands);
    HostSegment& last_segment(Operands& operands);
    SegmentTensor segment_tensor(Operands& operands) const;
    void buffer(Operands& operands);
    void tile(Operands& operands);
    void unified_buffer(Operands& operands);
    void accumulators(Operands& operands);
    void hbm(Operands& operands);
    void constant(Operands& operands);
    void check_overlap(Operands& operands, const Token& name, const HostBuffer& buffer) const;

    /// Declarations with values; each is the last of its kind in the program.
    enum class Kind : std::uint8_t { Tile, HostBuffer, InitialRows, ConstantOutput };
    /// The declaration to which values may still be added.
    struct Open {
        Place place;
        Kind kind = Kind::Tile;
        ElementRules element;
        MemoryId memory = MemoryId::UnifiedBuffer;  ///< of initial rows
        std::uint64_t bytes = 0;                    ///< of initial rows, as declared
    };
    std::vector<std::uint8_t>& open_values();
    std::optional<std::string> broken_rule_of_open() const;

    /// The rows of a memory with initial contents: the end of each range by its first row.
    using RowRanges = std::map<std::uint64_t, std::uint64_t>;
    /// Takes the values of initial rows that are declared in the statement.
    void initial_rows(Operands& operands, MemoryId memory, std::uint64_t first, std::uint64_t bytes);

    Program& program_;
    Constants& constants_;
    HostAddresses addresses_;
    ByMemory<RowRanges> initial_rows_;
    std::map<std::uint64_t, std::size_t> buffer_at_;  ///< index of a buffer by its address
    GenerationBudget budget_;
    std::optional<Open> open_;
    bool has_array_ = false;
    bool has_model_ = false;
};

}  // namespace systole::isa
