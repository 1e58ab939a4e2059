#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cycle.h"
#include "compiler/mapping/choices.h"
#include "compiler/mapping/options.h"
#include "compiler/target/tensor_core/network.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

/// How many images go through which steps together, and how much of vector memory keeps tensors: by predicted
/// cycles.
namespace systole::tensor_core {

struct Mapping {
    std::uint64_t images = 1;  ///< that go through the network together
    std::vector<Segment> segments = {};
    double kept_share = 0.75;
    bool room_by_step = false;      ///< Network::room_by_step
    std::uint64_t least_tiles = 1;  ///< Network::least_tiles

    bool operator==(const Mapping&) const = default;
};

/// What is chosen beside the images of the network: "75 % kept", or "1 from conv1, 8 from conv9, 75 % kept by
/// step, 4 tiles".
std::string to_text(const Mapping& mapping, const Network& network);

struct MappedProgram {
    Mapping mapping;
    isa::Program program;
    mapping::Batches batches = {};   ///< of a core
    Cycle cycles = 0;                ///< predicted for the program
    Cycle of_next_group = 0;         ///< of these, those of another group of images
    Cycle memory_cycles = 0;         ///< of these, those in which high-bandwidth memory is busy
    std::vector<Cycle> by_run = {};  ///< of the last group: those of each run of steps of a layer
};

/// `batches` are those of all cores. Throws ModelError if it does not fit.
MappedProgram map_program(Network& network, const machine::MachineConfig& machine, const Mapping& mapping,
                          const mapping::Batches& batches, bool with_constants = false);

/// The mapping that is predicted to be the fastest; of those that are about as fast, one that moves little.
struct ChosenMapping {
    isa::Program program;  ///< with constants
    Mapping mapping;
    Cycle cycles = 0;  ///< predicted for a batch
    struct Alternative {
        Mapping mapping;
        Cycle cycles = 0;  ///< predicted for a batch
    };
    std::vector<Alternative> alternatives;  ///< all that were predicted, the chosen one among them
};
/// `batches` are those of all cores. Throws ModelError if none fits.
ChosenMapping choose_mapping(Network& network, const machine::MachineConfig& machine,
                             const mapping::Batches& batches);

}  // namespace systole::tensor_core
