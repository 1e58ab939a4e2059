#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/assembly/operands.h"
#include "hw/isa/assembly/values.h"
#include "hw/isa/program.h"

namespace systole::isa {

/// Builds the parts of a program other than instructions, from the statements that begin with a dot.
class Directives {
public:
    explicit Directives(Program& program) : program_(program) {}

    /// Processes the statement and returns true if it is a directive. Throws ProgramError with its place.
    bool take(Operands& operands);

    /// The host buffers declared so far.
    const HostAddresses& addresses() const { return addresses_; }

    /// Checks the rules of the tile or buffer declared last, because later statements cannot add values to
    /// it. Repeated calls have no effect.
    void close();

private:
    void array(Operands& operands);
    void model(Operands& operands);
    void layer(Operands& operands);
    void input(Operands& operands);
    void output(Operands& operands);
    void host_operation(Operands& operands);
    void buffer(Operands& operands);
    void tile(Operands& operands);
    void check_overlap(Operands& operands, const Token& name, const HostBuffer& buffer) const;
    /// The declaration to which values may still be added.
    struct Open {
        Place place;
        bool is_tile = false;  ///< true: the last tile; false: the last buffer
    };

    Program& program_;
    HostAddresses addresses_;
    std::map<std::uint64_t, std::size_t> buffer_at_;  ///< index of a buffer by its address
    GenerationBudget budget_;
    std::optional<Open> open_;
    bool has_array_ = false;
    bool has_model_ = false;
};

}  // namespace systole::isa
