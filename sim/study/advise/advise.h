#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "sim/run/execute/executor.h"
#include "sim/run/run_config.h"
#include "sim/study/advise/point.h"
#include "sim/study/sweep/study_file.h"
#include "sim/view/table/table.h"

/// Which batches, and which sizes of images, fill a machine with a network: simulated, without values.
namespace systole::advise {

/// What is tried.
struct Question {
    run::RunConfig config;               ///< machine, network and mapping; its batch and limit do not count
    std::vector<std::uint32_t> batches;  ///< ascending; does not count of programs with a fixed batch
    std::vector<std::uint32_t> sizes;    ///< images so many times as wide and high, ascending from 1
    std::string cpu;                     ///< the baseline that the chip is compared with
    /// Machines with tiles take one image at a time, and come without their parameters.
    bool has_tiles = false;
    std::uint32_t cores = 1;  ///< of the machine
    bool is_program = false;  ///< its shapes have its batch; an inference is a call of it
    /// Programs whose shapes have their batch, a step of each, instead of batches and sizes; empty: the
    /// network of the run takes any batch.
    std::vector<std::string> programs = {};
    ir::Detours detours = {};  ///< of the network, or of the first program
};

struct Advice {
    std::string machine;
    std::string model;
    std::string cpu;
    std::uint32_t cores = 1;    ///< of the machine
    std::vector<Point> points;  ///< by size, then by batch
    /// The sentences that answer: what fills the machine, what limits it, when the CPU is quicker, and the
    /// rule for the batch.
    std::vector<std::string> sentences;
};

/// The study that answers the question: its points by size, then by batch, each four batches without values;
/// of a machine with tiles, batches of 1, so many that its parameters, which come once, hardly count. Of
/// programs with a fixed batch, four steps of each, in the order of the question.
sweep::StudyDefinition study_of(const Question& question);

/// From the outcomes of the study's points, in their order. Throws ConfigError, with the error of the first
/// point, if none could be run. If images cannot be larger, only their own size is shown, and a sentence says
/// why.
Advice advise(const Question& question, std::span<const run::RunOutcome> outcomes);

/// A batch with so much of the largest throughput is large enough.
inline constexpr double enough = 0.9;

/// The smallest batch of a size that computes at least `share` of the most inferences a second of this size;
/// null if no point of the size has a result.
const Point* filling_point(std::span<const Point> points, std::uint32_t size, double share = enough);

/// The sentences for these points of a machine with so many cores; of a machine with tiles, whose batch is
/// always 1, others. Of a machine with tensor cores, whose points have shares, they say which part binds at
/// which batch. `is_fixed`: programs have their batch, so that no rule for it follows from one of them.
std::vector<std::string> sentences_for(const std::string& machine, const std::string& model,
                                       const std::string& cpu, std::span<const Point> points,
                                       bool has_tiles = false, std::uint32_t cores = 1,
                                       bool is_fixed = false);

tables::Table to_table(const Advice& advice);
nlohmann::ordered_json to_json(const Advice& advice);

}  // namespace systole::advise
