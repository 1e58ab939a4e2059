#pragma once

#include <filesystem>
#include <string>

#include "sim/run/record/bytes.h"
#include "sim/study/sweep/database.h"
#include "sim/study/sweep/stored_record.h"

namespace systole::tests {

/// All that a file of results says of its points besides times, hosts and attempts: settings, state, metrics,
/// error, and of the record what equal runs have in common.
inline std::string study_contents(const std::filesystem::path& file) {
    sweep::Database database = sweep::Database::open_to_read(file);
    std::string text;
    for (const sweep::StoredPoint& point : database.points()) {
        text += std::to_string(point.number) + " " + point.settings + " " + point.state + " " +
                point.metrics + " " + point.error;
        if (point.state == "done") {
            text += " " + run::hash_of(run::compared_bytes(
                              sweep::StoredRecord::of_point(database, point.number).read()));
        }
        text += "\n";
    }
    return text;
}

}  // namespace systole::tests
