#pragma once

#include <algorithm>
#include <cstdint>

#include "tests/unit/sim/view/figures/facts.h"
#include "tests/unit/sim/view/figures/rows.h"

/// The host that makes the input: docs/report.md, In report.json.
namespace systole::figures {

inline Expected feeding(const Facts& facts, const Place&) {
    const Json& run = facts.files().run;
    if (!run.contains("feeding")) return absent();
    if (!facts.chip_computes() || facts.batches() == 0) return nullptr;
    const Json& keys = run.at("feeding");
    const auto key = [&](const char* name) { return keys.at(name).get<double>(); };
    // No case is a training, so a step is a batch.
    const std::uint64_t batches = facts.batches();
    const std::uint64_t given = keys.at("examples");
    const std::uint64_t examples = given > 0 ? given : facts.record().program.batch;
    const double chip = 1e3 * facts.seconds() / static_cast<double>(batches);
    const double host = key("step_ms") + key("example_us") * static_cast<double>(examples) / 1e3;
    const double slower = std::max(chip, host);
    const bool has_gaps = key("gap_ms") > 0.0;
    const double gap = has_gaps ? key("gap_ms") / key("loop_steps") : 0.0;
    // One gap fewer where the last loop is full: nothing comes behind it.
    std::uint64_t gaps = 0;
    for (std::uint64_t step = 1; has_gaps && step < batches; ++step)
        gaps += step % keys.at("loop_steps").get<std::uint64_t>() == 0 ? 1 : 0;
    return Json{{"examples", examples},
                {"chip_ms", chip},
                {"host_ms", host},
                {"wait_ms", slower - chip},
                {"gap_ms", gap},
                {"step_ms", slower + gap},
                {"input_share", 1.0 - chip / slower},
                {"busy_share", slower / (slower + gap)},
                {"examples_per_second", 1e3 * static_cast<double>(examples) / (slower + gap)},
                {"steps", batches},
                {"gaps", gaps},
                {"seconds", facts.seconds() + (static_cast<double>(batches) * (slower - chip) +
                                               static_cast<double>(gaps) * key("gap_ms")) /
                                                  1e3}};
}

inline Rows rows_of_feeding() {
    return {{"feeding", feeding}};
}

}  // namespace systole::figures
