#include "sim/study/sweep/chunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "base/user_error.h"
#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/run/execute/executor.h"
#include "sim/run/execute/worker.h"
#include "sim/run/execute/worker_pool.h"
#include "sim/run/record/bytes.h"
#include "sim/run/record/content.h"
#include "sim/run/record/record.h"
#include "sim/run/record/spec.h"
#include "sim/study/sweep/build_id.h"
#include "sim/study/sweep/compression.h"
#include "sim/study/sweep/owner.h"
#include "sim/study/sweep/point_answer.h"
#include "sim/study/sweep/run_points.h"

namespace systole::sweep {

namespace fs = std::filesystem;

/// A result as it travels.
struct ResultFile {
    std::string definitions;  ///< Metrics::definitions
    std::string metrics;
    std::string bytes;  ///< of the record, compressed
    std::string spec;
    std::string error;
    std::string metrics_error;
    std::string host;
    double wall_seconds = 0.0;
};
SYSTOLE_RECORD_FIELDS(ResultFile, definitions, metrics, bytes, spec, error, metrics_error, host, wall_seconds)

namespace {

using Clock = std::chrono::steady_clock;

/// A point whose process dies so often in a chunk fails.
constexpr int most_deaths_in_a_chunk = 3;

fs::path chunk_path(const fs::path& folder, std::size_t number) {
    return folder / "chunks" / fmt::format("{}", number);
}

fs::path result_path(const fs::path& folder, const std::string& key) {
    return folder / "results" / key;
}

/// An empty file that says that a process runs the point, or has run it.
fs::path begun_path(const fs::path& folder, const std::string& key) {
    return folder / "begun" / key;
}

/// An empty file that says that the result is stored: a chunk that is run again leaves the point out.
fs::path stored_path(const fs::path& folder, const std::string& key) {
    return folder / "stored" / key;
}

std::string contents_of_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string this_simulator() {
    return fmt::format("{} ({})", SYSTOLE_VERSION, build_id());
}

Chunk read_chunk(const fs::path& path) {
    if (!fs::exists(path))
        throw machine::ConfigError(fmt::format("{}: there is no such chunk", path.string()));
    Chunk chunk;
    try {
        chunk = run::from_bytes<Chunk>(contents_of_file(path));
    } catch (const run::RecordError& error) {
        throw machine::ConfigError(
            fmt::format("{}: it is damaged, or no chunk of a study: {}", path.string(), error.what()));
    }
    if (chunk.schema != Chunk::current_schema || chunk.simulator != this_simulator()) {
        throw machine::ConfigError(fmt::format("{}: it is {} of simulator {}; this one is {}", path.string(),
                                               chunk.schema, chunk.simulator, this_simulator()));
    }
    return chunk;
}

constexpr const char* broken_extension = ".broken";

/// The finished files of a folder: those under way have names that begin with a dot.
std::vector<fs::path> files_of(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const fs::path& path = entry.path();
        if (!path.filename().string().starts_with('.') && path.extension() != broken_extension) {
            files.push_back(path);
        }
    }
    std::ranges::sort(files);
    return files;
}

/// The study's files must be those of the submission: results go by their hashes.
void check_files(const Chunk& chunk, const std::vector<run::RunSpec>& specs) {
    std::set<std::pair<std::string, std::string>> known;
    for (run::RunSpec spec : specs) {
        for (const run::Content* content : run::contents_of(spec)) {
            if (content->hash.empty() || !known.emplace(content->path.text, content->hash).second) continue;
            const fs::path path = content->path.text;
            const std::string now = run::hash_at(spec, *content, path);
            if (now == content->hash) continue;
            throw machine::ConfigError(
                fmt::format("{}: {} {} since it was submitted: give the command of the study again",
                            chunk.study, path.string(), now.empty() ? "cannot be read" : "has changed"));
        }
    }
}

/// What a result file has to say under these metrics, or absent if it says nothing that counts.
std::optional<ResultFile> under_metrics(ResultFile file, const Metrics& metrics) {
    if (file.definitions == metrics.definitions() || !file.error.empty()) return file;
    if (!file.metrics_error.empty()) return std::nullopt;
    const run::RunRecord record = run::read_record(expanded(file.bytes));
    PointAnswer answer = answer_of(metrics, record);
    file.metrics = std::move(answer.metrics);
    file.metrics_error = std::move(answer.metrics_error);
    return file;
}

}  // namespace

std::size_t write_chunks(const Study& study, Database& database, const std::vector<Claim>& claims,
                         std::size_t most, const fs::path& folder) {
    std::error_code error;
    for (const char* const name : {"chunks", "begun", "stored"}) fs::remove_all(folder / name, error);
    for (const char* const name : {"chunks", "begun", "stored", "results"})
        fs::create_directories(folder / name, error);
    std::map<std::uint64_t, const Point*> by_number;
    for (const Point& point : study.points()) by_number.emplace(point.number, &point);
    Chunk common{.simulator = this_simulator(),
                 .directory = fs::current_path().string(),
                 .study = study.definition().file,
                 .definitions = study.metrics().definitions(),
                 .metrics = {},
                 .points = {}};
    for (const Metric& metric : study.definition().metrics) {
        common.metrics.push_back({metric.name, metric.formula});
    }
    const std::size_t count = std::min(most, claims.size());
    std::size_t next = 0;
    for (std::size_t number = 0; number < count; ++number) {
        Chunk chunk = common;
        const std::size_t end = claims.size() * (number + 1) / count;
        for (; next < end; ++next) {
            const Claim& claim = claims[next];
            try {
                const run::RunSpec spec =
                    claimed_spec(study, database, *by_number.at(claim.number), claim.key);
                chunk.points.push_back(
                    {.number = claim.number, .key = claim.key, .spec = run::to_bytes(spec)});
            } catch (const FilesChanged&) {
                throw;
            } catch (const UserError& invalid) {
                database.finish(claim.key, {.error = invalid.what()});
            }
        }
        write_file(chunk_path(folder, number), run::to_bytes(chunk));
    }
    return count;
}

void run_chunk(const fs::path& given_folder, std::size_t number, const RunChunk& how) {
    const fs::path folder = fs::absolute(given_folder);
    const Chunk chunk = read_chunk(chunk_path(folder, number));
    std::error_code moved;
    fs::current_path(chunk.directory, moved);
    if (moved) {
        throw machine::ConfigError(fmt::format("{}: its folder {} is not on this computer: {}", chunk.study,
                                               chunk.directory, moved.message()));
    }
    std::vector<Metric> own;
    for (const ChunkMetric& metric : chunk.metrics) {
        own.push_back({.name = metric.name, .formula = metric.formula});
    }
    const Metrics metrics(std::move(own), chunk.study);

    struct UnderWay {
        const ChunkPoint* point;
        run::RunSpec spec;
        Clock::time_point begin = {};
        int deaths = 0;
    };
    std::map<std::uint64_t, UnderWay> all;
    std::vector<std::uint64_t> waiting;
    for (const ChunkPoint& point : chunk.points) {
        // What a run of this chunk did before it was ended.
        if (fs::exists(result_path(folder, point.key)) || fs::exists(stored_path(folder, point.key)))
            continue;
        all.emplace(point.number, UnderWay{.point = &point, .spec = run::read_spec(point.spec)});
        waiting.push_back(point.number);
    }
    std::vector<run::RunSpec> specs;
    specs.reserve(all.size());
    for (const auto& [unused, point] : all) specs.push_back(point.spec);
    check_files(chunk, specs);
    const std::string host = this_process().host;
    const auto write = [&](const UnderWay& point, RunResult result, const std::string& metrics_error) {
        const double seconds = std::chrono::duration<double>(Clock::now() - point.begin).count();
        write_file(result_path(folder, point.point->key),
                   run::to_bytes(ResultFile{.definitions = chunk.definitions,
                                            .metrics = result.metrics,
                                            .bytes = result.record,
                                            .spec = result.spec,
                                            .error = result.error,
                                            .metrics_error = metrics_error,
                                            .host = host,
                                            .wall_seconds = seconds}));
    };
    run::WorkerPool pool(how.workers == 0 ? run::cores() : how.workers, [&](const run::RunRecord& record) {
        return run::to_bytes(answer_of(metrics, record));
    });
    const auto more = [&] {
        std::vector<run::Task> tasks;
        tasks.reserve(waiting.size());
        for (const std::uint64_t each : waiting) tasks.push_back({.number = each, .spec = all.at(each).spec});
        waiting.clear();
        return tasks;
    };
    const auto done = [&](std::uint64_t each, std::string answer) {
        UnderWay& point = all.at(each);
        if (answer.front() == run::died_message) {
            if (++point.deaths < most_deaths_in_a_chunk) {
                waiting.push_back(each);
                return;
            }
            RunResult result;
            result.error =
                fmt::format("{}, in each of {} attempts", answer.substr(1), most_deaths_in_a_chunk);
            result.spec = compressed(point.point->spec);
            write(point, std::move(result), {});
            return;
        }
        try {
            write(point, result_of(std::move(answer), [&] { return point.spec; }), {});
        } catch (const machine::ConfigError& error) {
            write(point, {}, error.what());
        }
    };
    const auto sent = [&](pid_t, const run::Task& task) {
        UnderWay& point = all.at(task.number);
        point.begin = Clock::now();
        write_file(begun_path(folder, point.point->key), {});
    };
    pool.run(more, done, sent, [&] {
        if (how.stop && how.stop()) pool.stop();
    });
}

std::set<std::string> begun_points(const fs::path& folder) {
    std::set<std::string> keys;
    for (const fs::path& file : files_of(folder / "begun")) keys.insert(file.filename().string());
    return keys;
}

Gathered gather(const fs::path& folder, const Metrics& metrics, Database& database,
                const std::function<void(const std::string&)>& warn) {
    Gathered gathered;
    for (const fs::path& file : files_of(folder / "results")) {
        std::optional<ResultFile> read;
        std::error_code ignored;
        try {
            read = under_metrics(run::from_bytes<ResultFile>(contents_of_file(file)), metrics);
        } catch (const UserError& error) {
            fs::path aside = file;
            aside += broken_extension;
            fs::rename(file, aside, ignored);
            warn(fmt::format("{}: it is no result of a study: {}: its point is run again", aside.string(),
                             error.what()));
            continue;
        }
        const std::string key = file.filename().string();
        if (read) {
            gathered.keys.push_back(key);
            if (!read->metrics_error.empty()) {
                gathered.metrics_error = read->metrics_error;
            } else if (database.adopt(key, {.metrics = read->metrics,
                                            .record = read->bytes,
                                            .spec = read->spec,
                                            .error = read->error,
                                            .host = read->host,
                                            .wall_seconds = read->wall_seconds})) {
                ++gathered.stored;
            }
            write_file(stored_path(folder, key), {});
        }
        fs::remove(file, ignored);  // a file that stays is stored again, which changes nothing
    }
    return gathered;
}

}  // namespace systole::sweep
