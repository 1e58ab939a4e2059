#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/run/record/fields.h"
#include "sim/study/sweep/database.h"
#include "sim/study/sweep/study.h"

/// A part of a study for another computer, in files of a folder that both see: what to run in
/// chunks/NUMBER, an empty file begun/KEY for each point that has begun, and a file for each result in
/// results/KEY, which appears whole or not at all and becomes an empty file stored/KEY. So no database is
/// written over a network.
namespace systole::sweep {

struct ChunkPoint {
    std::uint64_t number = 0;
    std::string key;
    std::string spec;  ///< bytes of the RunSpec; its files are read at their paths
};
SYSTOLE_RECORD_FIELDS(ChunkPoint, number, key, spec)

struct ChunkMetric {
    std::string name;
    std::string formula;
};
SYSTOLE_RECORD_FIELDS(ChunkMetric, name, formula)

struct Chunk {
    static constexpr std::string_view current_schema = "sim.study_chunk/1";

    std::string schema{current_schema};
    std::string simulator;    ///< version and build
    std::string directory;    ///< in which the study's paths hold
    std::string study;        ///< its file, for messages
    std::string definitions;  ///< Metrics::definitions
    std::vector<ChunkMetric> metrics;
    std::vector<ChunkPoint> points;
};
SYSTOLE_RECORD_FIELDS(Chunk, schema, simulator, directory, study, definitions, metrics, points)

/// Splits the claimed points into at most `most` chunks and writes them, instead of those that are there.
/// Neighbours stay together, because they share compiled networks. A point that is no valid run fails in the
/// database. Returns the number of chunks. Throws OutputError.
std::size_t write_chunks(const Study& study, Database& database, const std::vector<Claim>& claims,
                         std::size_t most, const std::filesystem::path& folder);

struct RunChunk {
    std::size_t workers = 1;          ///< processes; 0: one for each core
    std::function<bool()> stop = {};  ///< whether to end as soon as the points under way are finished
};

/// Runs the points of a chunk that have no result yet, in the working directory of the study. Throws
/// UserError where the chunk cannot be read, is of another version of the simulator, or reads files that have
/// changed.
void run_chunk(const std::filesystem::path& folder, std::size_t number, const RunChunk& how);

/// The keys of the points that have begun since the chunks were written.
std::set<std::string> begun_points(const std::filesystem::path& folder);

/// Stores the results that are in the folder and removes their files. The metrics of a result that was made
/// for others are computed again. A broken file gets the name NAME.broken and is told to `warn`.
struct Gathered {
    std::size_t stored = 0;
    std::vector<std::string> keys;  ///< of all results that were there
    std::string metrics_error;      ///< of the study: its metrics cannot be computed
};
Gathered gather(const std::filesystem::path& folder, const Metrics& metrics, Database& database,
                const std::function<void(const std::string&)>& warn);

}  // namespace systole::sweep
