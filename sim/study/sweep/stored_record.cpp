#include "sim/study/sweep/stored_record.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include "sim/study/sweep/compression.h"
#include "sim/study/sweep/sqlite.h"

namespace systole::sweep {

using sqlite::DatabaseError;

namespace {

/// The result of a function that goes by the contents of a record. Bytes that are not those of a record of
/// this version can break any rule in it.
template <class Function>
auto read_from(const std::string& place, const Function& function) {
    try {
        return function();
    } catch (const std::exception& error) {
        throw DatabaseError(
            fmt::format("{}: its record is damaged, or of another version: {}", place, error.what()));
    }
}

}  // namespace

StoredRecord::StoredRecord(std::string place, std::string stream)
    : place_(std::move(place)), stream_(std::move(stream)) {}

StoredRecord StoredRecord::of_point(Database& database, std::uint64_t number) {
    std::string place = fmt::format("{}: point {}", database.file(), number);
    std::optional<std::string> stream = database.record(number);
    if (!stream) {
        const std::string state = database.state(number);
        throw DatabaseError(state == "done" ? place + " is done and has no record: the file is damaged"
                            : state.empty() ? place + " is none of the study's points"
                                            : place + " has no record: it is " + state);
    }
    return {std::move(place), *std::move(stream)};
}

StoredRecord StoredRecord::of_run(Database& database, std::string_view key) {
    std::string place = fmt::format("{}: run {}", database.file(), key);
    std::optional<std::string> stream = database.record_of_run(key);
    if (!stream) throw DatabaseError(place + " is done and has no record: the file is damaged");
    return {std::move(place), *std::move(stream)};
}

run::RunRecord StoredRecord::read() const {
    return read_from(place_, [&] { return run::read_record(expanded(stream_)); });
}

report::Json StoredRecord::report() const {
    return read_from(place_, [&] { return report::make_report(run::read_record(expanded(stream_))); });
}

}  // namespace systole::sweep
