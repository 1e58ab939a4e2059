#include "sim/study/sweep/cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <system_error>
#include <thread>

#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/run/execute/process.h"
#include "sim/study/sweep/chunk.h"
#include "sim/study/sweep/command_line.h"

namespace systole::sweep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view ticket_note = "cluster_ticket";
/// Chunks that cannot run at all are given up after so many submissions.
constexpr int most_idle_rounds = 3;

/// All pending points.
std::vector<Claim> claim_all(Database& database) {
    std::vector<Claim> all;
    while (true) {
        const std::vector<Claim> more = database.claim(most_points);
        if (more.empty()) return all;
        all.insert(all.end(), more.begin(), more.end());
    }
}

/// The points that this process has claimed and that have no result; gives them back at the end.
class Missing {
public:
    Missing(Database& database, const std::vector<Claim>& claims) : database_(database) {
        for (const Claim& claim : claims) keys_.insert(claim.key);
    }
    Missing(const Missing&) = delete;
    Missing& operator=(const Missing&) = delete;
    ~Missing() {
        try {
            give_back({});
        } catch (const UserError&) {
            return;  // the next process sees that this one has ended
        }
    }

    void found(const std::vector<std::string>& keys) {
        for (const std::string& key : keys) keys_.erase(key);
    }
    bool empty() const { return keys_.empty(); }
    std::size_t size() const { return keys_.size(); }
    /// Those that have begun may be why their chunk ended: it counts against them.
    void give_back(const std::set<std::string>& begun) {
        for (const std::string& key : keys_) database_.give_back(key, begun.contains(key) ? lost : "");
        keys_.clear();
    }

private:
    static constexpr std::string_view lost = "its chunk ended before its result: see the scheduler's logs";

    Database& database_;
    std::set<std::string> keys_;
};

/// The folder's chunks are those of one process at a time. The lock ends with the process.
class FolderLock {
public:
    explicit FolderLock(const std::filesystem::path& folder) {
        std::error_code ignored;
        std::filesystem::create_directories(folder, ignored);
        const std::filesystem::path file = folder / "lock";
        file_ = run::Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
        if (file_.number() < 0) {
            throw OutputError(fmt::format("{}: cannot be written: {}", file.string(),
                                          std::generic_category().message(errno)));
        }
        if (::flock(file_.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
        throw machine::ConfigError(fmt::format(
            "{}: another process runs chunks of this study: wait for it, or end it", folder.string()));
    }
    /// A copy of this process that has worked for it may still be ending; it holds the file, too.
    ~FolderLock() { ::flock(file_.number(), LOCK_UN); }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    run::Descriptor file_;
};

class ClusterLoop {
public:
    ClusterLoop(const Study& study, Database& database, Scheduler& scheduler, const ClusterRun& how)
        : study_(study), database_(database), scheduler_(scheduler), how_(how), begin_(Clock::now()) {}

    void run() {
        gather_results();  // of a process that was killed
        bool is_resumed = scheduler_.resume(how_.folder, database_.note(ticket_note));
        int idle_rounds = 0;
        while (!wants_stop()) {
            const std::vector<Claim> claims = claim_all(database_);
            if (claims.empty()) break;
            Missing missing(database_, claims);
            if (!is_resumed) submit(claims);
            wait_for(missing);
            database_.set_note(ticket_note, "");
            if (wants_stop()) break;
            const std::set<std::string> begun = begun_points(how_.folder);
            idle_rounds = begun.empty() && missing.size() == claims.size() ? idle_rounds + 1 : 0;
            missing.give_back(is_resumed ? std::set<std::string>() : begun);
            if (idle_rounds == most_idle_rounds) fail_idle();
            is_resumed = false;
        }
    }

private:
    bool wants_stop() const { return how_.stop && how_.stop(); }

    [[noreturn]] void fail_idle() const {
        throw machine::ConfigError(
            fmt::format("{}: the chunks ended {} times without running a point: see {}",
                        study_.definition().file, most_idle_rounds, scheduler_.logs(how_.folder)));
    }

    void submit(const std::vector<Claim>& claims) {
        const std::size_t chunks = write_chunks(study_, database_, claims, how_.most_chunks, how_.folder);
        scheduler_.submit(how_.folder, chunks);
        database_.set_note(ticket_note, scheduler_.ticket());
    }

    void wait_for(Missing& missing) {
        constexpr auto pause = std::chrono::milliseconds(300);
        while (!missing.empty()) {
            if (wants_stop()) {
                scheduler_.cancel();
                missing.found(gather_results());
                return;
            }
            const bool is_active = scheduler_.is_active();  // before the results are gathered
            missing.found(gather_results());
            if (!is_active) return;
            tell();
            std::this_thread::sleep_for(pause);
        }
    }

    std::vector<std::string> gather_results() {
        Gathered gathered = gather(how_.folder, study_.metrics(), database_, [&](const std::string& message) {
            if (how_.warn) how_.warn(message);
        });
        finished_ += gathered.stored;
        if (!gathered.metrics_error.empty()) {
            scheduler_.cancel();
            throw machine::ConfigError(gathered.metrics_error);
        }
        return std::move(gathered.keys);
    }

    void tell() {
        constexpr auto between = std::chrono::seconds(2);
        const Clock::time_point now = Clock::now();
        if (now - told_ < between) return;
        told_ = now;
        database_.beat();
        if (!how_.progress) return;
        how_.progress({.counts = database_.counts(),
                       .finished = finished_,
                       .seconds = std::chrono::duration<double>(now - begin_).count()});
    }

    const Study& study_;
    Database& database_;
    Scheduler& scheduler_;
    const ClusterRun& how_;
    const Clock::time_point begin_;
    Clock::time_point told_ = {};
    std::uint64_t finished_ = 0;
};

}  // namespace

void run_on_cluster(const Study& study, Database& database, Scheduler& scheduler, const ClusterRun& how) {
    const FolderLock lock(how.folder);
    ClusterLoop(study, database, scheduler, how).run();
}

std::string chunk_command(const std::filesystem::path& folder, const std::string& number,
                          std::size_t workers) {
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    return fmt::format("{} study-chunk {} {} --workers {}", shell_word(program.string()),
                       shell_word(std::filesystem::absolute(folder).string()), number, workers);
}

}  // namespace systole::sweep
