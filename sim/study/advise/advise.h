#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/run/execute/executor.h"
#include "sim/run/run_config.h"
#include "sim/study/sweep/study_file.h"
#include "sim/view/table/table.h"

/// Which batches, and which sizes of images, fill a machine with a network: simulated, without values.
namespace systole::advise {

/// What is tried.
struct Question {
    run::RunConfig config;               ///< machine, network and mapping; its batch and limit do not count
    std::vector<std::uint32_t> batches;  ///< ascending
    std::vector<std::uint32_t> sizes;    ///< images so many times as wide and high, ascending from 1
    std::string cpu;                     ///< the baseline that the chip is compared with
    /// Machines with tiles take one image at a time, and come without their parameters.
    bool has_tiles = false;
    std::uint32_t cores = 1;  ///< of the machine
};

/// One batch of images of one size.
struct Point {
    std::uint32_t size = 1;
    std::uint32_t batch = 1;
    std::string error = {};         ///< one line; the other fields then say nothing
    double latency_seconds = 0.0;   ///< of a batch, mean
    double interval_seconds = 0.0;  ///< by which batches follow each other
    double inferences_per_second = 0.0;
    /// Arithmetic done, of what the array could do at its peak; absent where the report does not know it.
    std::optional<double> peak_share = {};
    std::string limit = {};  ///< the part of the machine that is the busiest in most layers, or "waiting"
    /// The expected speed of one die of the CPU, over which the chip's is `speedup`; absent if not known.
    std::optional<double> speedup = {};

    bool operator==(const Point&) const = default;
};

struct Advice {
    std::string machine;
    std::string model;
    std::string cpu;
    std::vector<Point> points;  ///< by size, then by batch
    /// The sentences that answer: what fills the machine, what limits it, when the CPU is quicker, and the
    /// rule for the batch.
    std::vector<std::string> sentences;
};

/// The study that answers the question: its points by size, then by batch, each four batches without values;
/// of a machine with tiles, batches of 1, so many that its parameters, which come once, hardly count.
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
/// always 1, others.
std::vector<std::string> sentences_for(const std::string& machine, const std::string& model,
                                       const std::string& cpu, std::span<const Point> points,
                                       bool has_tiles = false, std::uint32_t cores = 1);

tables::Table to_table(const Advice& advice);
nlohmann::ordered_json to_json(const Advice& advice);

}  // namespace systole::advise
