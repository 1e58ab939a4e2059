#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/record/record.h"

namespace systole::explain {

/// The non-matrix cycles by reason, as docs/timing.md has them.
struct NonMatrixReasons {
    std::uint64_t raw = 0;
    std::uint64_t input = 0;
    std::uint64_t accumulators = 0;
    std::uint64_t output_buffer = 0;
    std::uint64_t input_buffer = 0;
    std::uint64_t vector_work = 0;
    std::uint64_t setup = 0;
    std::uint64_t port = 0;
    std::uint64_t not_arrived = 0;
    std::uint64_t queue_full = 0;
    std::uint64_t issue = 0;
    std::uint64_t sync = 0;
    std::uint64_t program_begin = 0;
    std::uint64_t program_end = 0;
    std::uint64_t host = 0;

    bool operator==(const NonMatrixReasons&) const = default;
};

/// The data for a sentence: cycles and tiles of the matrix unit in a run, or under one of its tags.
struct Facts {
    // The four classes of cycles; they sum to all.
    std::uint64_t active_cycles = 0;
    std::uint64_t weight_stall_cycles = 0;
    std::uint64_t weight_shift_cycles = 0;
    std::uint64_t non_matrix_cycles = 0;
    NonMatrixReasons reasons{};  ///< they sum to non_matrix_cycles
    // Cells of active cycles.
    std::uint64_t useful_macs = 0;
    std::uint64_t unused_macs = 0;
    run::TileUse fetched = {};

    std::uint64_t cycles() const {
        return active_cycles + weight_stall_cycles + weight_shift_cycles + non_matrix_cycles;
    }

    bool operator==(const Facts&) const = default;
};

struct TagFacts {
    std::string name;  ///< of the layer, as reports have it
    std::string kind;  ///< "convolution"; empty where the program does not say
    Facts facts;

    bool operator==(const TagFacts&) const = default;
};

/// The facts about one simulation.
struct Simulation {
    std::uint64_t inferences = 1;  ///< 1 for a program without inferences
    std::uint64_t clock_hz = 1;
    Facts run;
    std::vector<TagFacts> tags;  ///< by tag

    bool operator==(const Simulation&) const = default;
};

Simulation facts_of(const run::RunRecord& record);

}  // namespace systole::explain
