#include "sim/run/execute/executor.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "sim/run/execute/worker.h"
#include "sim/run/execute/worker_pool.h"

namespace systole::run {
std::size_t cores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    return std::max<std::size_t>(1, static_cast<std::size_t>(CPU_COUNT(&allowed)));
}

const std::string* RecordCache::find(const std::string& key) const {
    const auto found = records_.find(key);
    return found == records_.end() ? nullptr : &found->second;
}

void RecordCache::keep(const std::string& key, std::string record) {
    const auto [place, is_new] = records_.emplace(key, std::move(record));
    if (!is_new) return;
    keys_.push_back(key);
    bytes_ += place->second.size();
    while (bytes_ > most_bytes_ && keys_.size() > 1) {
        const auto oldest = records_.find(keys_.front());
        bytes_ -= oldest->second.size();
        records_.erase(oldest);
        keys_.pop_front();
    }
}

Executor::Executor(std::size_t workers, Sent sent)
    : workers_(workers == 0 ? cores() : workers), sent_(std::move(sent)) {}

std::vector<RunOutcome> Executor::run(std::span<const RunSpec> specs) {
    std::vector<RunOutcome> outcomes(specs.size());
    std::map<std::string, std::vector<std::size_t>> places;  ///< the indices of equal specs, by their key
    std::vector<std::size_t> wanted;
    std::vector<std::string> keys(specs.size());
    const auto give = [&](std::size_t index, const std::string& bytes) {
        outcomes[index].record = read_record(bytes);
        outcomes[index].record->spec =
            specs[index];  // its labels may differ from those of the equal spec that was run
    };
    for (std::size_t i = 0; i < specs.size(); ++i) {
        keys[i] = key_of(specs[i]);
        if (const std::string* known = cache_.find(keys[i])) {
            give(i, *known);
            continue;
        }
        std::vector<std::size_t>& same = places[keys[i]];
        if (same.empty()) wanted.push_back(i);
        same.push_back(i);
    }
    if (wanted.empty()) return outcomes;
    if (!pool_) pool_.emplace(workers_);
    runs_ += wanted.size();
    const auto all_at_once = [&, given = false]() mutable {
        std::vector<Task> tasks;
        if (std::exchange(given, true)) return tasks;
        for (const std::size_t index : wanted) tasks.push_back({.number = index, .spec = specs[index]});
        return tasks;
    };
    const auto done = [&](std::uint64_t index, std::string answer) {
        const char kind = answer.front();
        answer.erase(0, 1);
        for (const std::size_t place : places.at(keys[index])) {
            if (kind == record_message) {
                give(place, answer);
            } else {
                outcomes[place].error = answer;
            }
        }
        if (kind == record_message) cache_.keep(keys[index], std::move(answer));
    };
    const auto sent = [&](pid_t worker, const Task& task) {
        if (sent_) sent_(worker, task.spec);
    };
    pool_->run(all_at_once, done, sent);
    return outcomes;
}

}  // namespace systole::run
