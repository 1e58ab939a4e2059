#include "sim/explain/simulate.h"

#include <array>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/pool/process_pool.h"
#include "sim/run/run.h"

namespace systole::explain {
namespace {

using Json = nlohmann::json;

/// All of its fields are numbers of one type.
using Numbers = std::array<std::uint64_t, sizeof(Facts) / sizeof(std::uint64_t)>;

Json to_json(const Facts& facts) {
    return std::bit_cast<Numbers>(facts);
}

Facts read_facts(const Json& numbers) {
    return std::bit_cast<Facts>(numbers.get<Numbers>());
}

std::string to_bytes(const Simulation& simulation) {
    Json tags = Json::array();
    for (const TagFacts& tag : simulation.tags) {
        // Names are anybody's bytes, which JSON's text does not take; its binary form does.
        tags.push_back({{"name", tag.name}, {"kind", tag.kind}, {"facts", to_json(tag.facts)}});
    }
    const std::vector<std::uint8_t> bytes = Json::to_msgpack({{"inferences", simulation.inferences},
                                                              {"clock_hz", simulation.clock_hz},
                                                              {"run", to_json(simulation.run)},
                                                              {"tags", tags}});
    return {bytes.begin(), bytes.end()};
}

Simulation from_bytes(const std::string& bytes) {
    const Json object = Json::from_msgpack(bytes);
    Simulation simulation{.inferences = object.at("inferences"),
                          .clock_hz = object.at("clock_hz"),
                          .run = read_facts(object.at("run")),
                          .tags = {}};
    for (const Json& tag : object.at("tags")) {
        simulation.tags.push_back(
            {.name = tag.at("name"), .kind = tag.at("kind"), .facts = read_facts(tag.at("facts"))});
    }
    return simulation;
}

}  // namespace

std::vector<Answer> simulate(std::span<const run::RunConfig> runs) {
    std::vector<pool::Job> jobs;
    jobs.reserve(runs.size());
    for (const run::RunConfig& config : runs) {
        jobs.emplace_back([&config] { return to_bytes(facts_of(run::run(config))); });
    }
    std::vector<Answer> answers;
    for (pool::Outcome& outcome : pool::run(jobs)) {
        Answer& answer = answers.emplace_back();
        if (outcome.ending == pool::Ending::Returned) {
            answer.simulation = from_bytes(outcome.bytes);
        } else {
            answer.error = std::move(outcome.message);
        }
    }
    return answers;
}

}  // namespace systole::explain
