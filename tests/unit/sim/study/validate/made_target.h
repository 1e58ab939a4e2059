#pragma once

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/execute/run.h"
#include "sim/run/path_finder.h"
#include "sim/run/record/json.h"
#include "sim/run/record/record.h"
#include "sim/study/validate/setup.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"

/// A small validation of two networks, with files of its own.
namespace systole::validate {

/// A record of a small network on any machine, with other cycles: what depends on cycles alone can be made
/// up.
class MadeUpChip {
public:
    /// `cycles` gives those of a spec.
    explicit MadeUpChip(std::function<double(const run::RunSpec&)> cycles) : cycles_(std::move(cycles)) {}

    std::vector<run::RunRecord> operator()(std::span<const run::RunSpec> specs) {
        ++calls;
        std::vector<run::RunRecord> records;
        for (const run::RunSpec& spec : specs) {
            if (!first_) {
                const tests::FreshSimulation simulation;
                first_ = run::run(spec);
            }
            run::RunRecord& record = records.emplace_back(*first_);
            record.spec = spec;
            record.cycles = static_cast<Cycle>(std::llround(cycles_(spec)));
            record.program.batch = spec.compiler.batch;
            record.program.inferences = spec.compiler.limit;
            record.phases->head = 0;
            record.phases->last_result = record.cycles;
            seen.push_back(spec);
        }
        return records;
    }

    int calls = 0;
    std::vector<run::RunSpec> seen;

private:
    std::function<double(const run::RunSpec&)> cycles_;
    std::optional<run::RunRecord> first_;
};

class MadeTarget {
public:
    MadeTarget() {
        const nlohmann::json network = nlohmann::json::parse(
            R"({"schema": "sim.graph/1", "name": "n", "activation_bits": 8, "input": {"shape": [8]},
                "weights": {"seed": 1},
                "layers": [{"name": "a", "op": "dense", "inputs": ["input"], "units": 8, "activation_bits": 16}],
                "output": "a"})");
        const std::string file = folder_.file("network.json", network.dump());
        const std::string machine = folder_.file("machine.json", made_machine("made").dump());
        json = nlohmann::json::parse(R"({
            "schema": "sim.validation/2", "name": "made", "lists": {"workloads": ["A", "B"]},
            "metrics": {"seen": "cycles"}, "runs": {"base": {}},
            "values": {"error": "table.cycles / base.seen - 1"},
            "tables": [{"id": "t", "title": "T", "columns": ["", "A", "B"],
                        "rows": [{"label": "ours", "row": "base.seen", "digits": 0}]}]})");
        json["published"] = folder_.file("published.json", R"({"schema": "sim.published/1", "name": "made",
            "title": "Made", "table": {"source": "nowhere", "confidence": "derived", "host": "an abacus",
            "cycles": {"A": 100, "B": 200}, "batch": 3}})");
        json["machine"] = machine;
        nlohmann::json mapping = nlohmann::json::parse(run::to_json(machine::Mapping()).dump());
        json["mapping"] = mapping;
        for (const char* const model : {"A", "B"}) {
            json["models"][model] = {{"file", file}, {"batch", "table.batch"}};
        }
    }

    /// The default machine without energy, whose counters depend on more than cycles.
    static nlohmann::json made_machine(const std::string& name) {
        machine::MachineConfig machine;
        machine.name = name;
        machine.sources = {{"weight_memory.bandwidth_gb_per_s", "fitted: to nothing"},
                           {"weight_fifo.depth_tiles", "choice: four"}};
        return nlohmann::json::parse(machine::to_json(machine).dump());
    }

    Setup setup() const { return read_setup(folder_.file("target.json", json.dump()), run::PathFinder({})); }
    /// The message of the error, without the path of the folder.
    std::string error() const {
        try {
            static_cast<void>(setup());
        } catch (const std::exception& error) {
            std::string text = error.what();
            const std::string path = folder_.path().string() + "/";
            for (auto at = text.find(path); at != std::string::npos; at = text.find(path))
                text.erase(at, path.size());
            return text;
        }
        return "nothing thrown";
    }

    nlohmann::json json;

private:
    tests::Folder folder_;
};

}  // namespace systole::validate
