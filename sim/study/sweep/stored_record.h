#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/run/record/record.h"
#include "sim/study/sweep/database.h"
#include "sim/view/report/report.h"

namespace systole::sweep {

/// The compressed record of a run in a file of results. It can be read in another thread than the database.
class StoredRecord {
public:
    /// The record of a point. Throws DatabaseError where the point is not done.
    static StoredRecord of_point(Database& database, std::uint64_t number);
    /// The record of a run that is done, by its key. Throws DatabaseError where the file has none.
    static StoredRecord of_run(Database& database, std::string_view key);

    // Both throw DatabaseError, with the file and the point, where the record is damaged.
    run::RunRecord read() const;
    report::Json report() const;

private:
    StoredRecord(std::string place, std::string stream);

    std::string place_;  ///< for messages
    std::string stream_;
};

}  // namespace systole::sweep
