#include "sim/run/execute/worker.h"

#include <unistd.h>

#include <exception>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/run/execute/process.h"
#include "sim/run/execute/run.h"
#include "sim/run/execute/runs_beside.h"
#include "sim/run/record/bytes.h"
#include "sim/run/request.h"
#include "sim/run/stopwatch.h"

namespace systole::run {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

/// Passes warnings on, and observes nothing else.
class Warnings final : public Observer {
public:
    explicit Warnings(const std::function<void(const std::string&)>& warn) : warn_(warn) {}

    void warn(const std::string& message) override { warn_(message); }
    void begin(const isa::Program&, const machine::MachineConfig&) override {}
    hw::TraceSink* trace(std::size_t /*core*/) override { return nullptr; }
    hw::RegisterSink* registers() override { return nullptr; }
    void finish(const RunRecord&) override {}
    void failed() noexcept override {}

private:
    const std::function<void(const std::string&)>& warn_;
};

class Worker {
public:
    Worker(int in, int out, fs::path folder, const Summary& summary, const RequestAnswers& requests)
        : in_(in), out_(out), folder_(std::move(folder)), summary_(summary), requests_(requests) {}

    void serve() {
        while (const std::optional<std::string> message = read_message(in_)) {
            const char kind = message->empty() ? '\0' : message->front();
            const std::string_view body = std::string_view(*message).substr(message->empty() ? 0 : 1);
            switch (kind) {
                case content_message:
                    keep(body);
                    break;
                case spec_message:
                    if (!write_message(out_, answer(body))) return;
                    break;
                case request_message:
                    if (!requests_.report) throw RecordError("stdin: this worker takes no requests in JSON");
                    if (!write_message(out_, answer_request(body))) return;
                    break;
                default:
                    throw RecordError("stdin: a message is of an unknown kind");
            }
        }
    }

private:
    void keep(std::string_view message) {
        const std::uint64_t header_bytes = read_length(message);
        message.remove_prefix(length_bytes);
        if (header_bytes > message.size()) throw RecordError("stdin: the content ends within its header");
        const auto content = from_bytes<ContentHeader>(message.substr(0, header_bytes));
        message.remove_prefix(header_bytes);
        const fs::path place = place_of(folder_, {.name = content.name, .hash = content.hash, .path = {}});
        fs::create_directories(content.is_folder ? place : place.parent_path());
        for (const FileHeader& file : content.files) {
            if (file.bytes > message.size()) throw RecordError("stdin: the content ends within a file");
            std::ofstream copy(content.is_folder ? place / file.name : place, std::ios::binary);
            copy.write(message.data(), static_cast<std::streamsize>(file.bytes));
            message.remove_prefix(file.bytes);
        }
    }

    /// The prepared inputs of a timing-only run, kept for further runs of the same network. Runs with values
    /// are prepared in their own process, because computing values starts threads.
    const Prepared& prepared_for(const RunSpec& spec) {
        const std::string key = prepared_key(spec);
        for (auto each = prepared_.begin(); each != prepared_.end(); ++each) {
            if (each->first != key) continue;
            prepared_.splice(prepared_.begin(), prepared_, each);
            return prepared_.front().second;
        }
        prepared_.emplace_front(key, prepare(spec));
        constexpr std::size_t most = 64;
        constexpr std::uint64_t most_bytes = 64ULL << 20U;  // a fork takes a millisecond for a few MB
        if (prepared_.size() > most) prepared_.pop_back();
        while (prepared_.size() > 1 && kept_bytes() > most_bytes) prepared_.pop_back();
        return prepared_.front().second;
    }

    /// Of what grows with a network: its parameters, also where they have no values.
    std::uint64_t kept_bytes() const {
        std::uint64_t bytes = 0;
        for (const auto& [key, prepared] : prepared_) {
            for (const isa::HostBuffer& buffer : prepared.program.buffers) bytes += buffer.contents.size();
        }
        return bytes;
    }

    std::string answer(std::string_view bytes) {
        std::vector<std::pair<std::string, std::string>> labels;  // path of the copy, and label
        const auto error = [&](std::string message, char kind = error_message) {
            for (const auto& [copy, label] : labels) replace_all(message, copy, label);
            return kind + message;
        };
        try {
            const RunSpec asked = read_spec(bytes);
            RunSpec here = asked;
            for (Content* content : contents_of(here)) {
                if (content->hash.empty()) continue;  // cannot be read: opening it later throws the reason
                const std::string copy = place_of(folder_, *content).string();
                labels.emplace_back(copy, content->path.text);
                content->path.text = copy;
            }
            const ChildAnswer child = run_in_child(here, nullptr, [&](RunRecord record) {
                record.spec = asked;
                return summary_ ? summary_(record) : to_bytes(record);
            });
            if (child.is_result) return record_message + child.bytes;
            return error(child.bytes, child.died ? died_message : error_message);
        } catch (const std::exception& caught) {
            return error(line_of(caught));
        }
    }

    std::string answer_request(std::string_view text) {
        try {
            const std::variant<RunConfig, machine::MachineConfig> request = read_request(text);
            if (const auto* machine = std::get_if<machine::MachineConfig>(&request)) {
                return report_message + machine::to_json(*machine).dump();
            }
            const auto& config = std::get<RunConfig>(request);
            Warnings warnings(requests_.warn);
            const ChildAnswer child =
                run_in_child(make_spec(config), &warnings,
                             [&](const RunRecord& record) { return requests_.report(record, config); });
            if (child.is_result) return report_message + child.bytes;
            return (child.died ? died_message : error_message) + child.bytes;
        } catch (const std::exception& caught) {
            return error_message + line_of(caught);
        }
    }

    /// Runs the spec, and makes the answer of its record, in another process.
    ChildAnswer run_in_child(const RunSpec& spec, Observer* observer,
                             const std::function<std::string(RunRecord)>& answer) {
        const Stopwatch time;
        const Prepared* const prepared = spec.timing_only ? &prepared_for(spec) : nullptr;
        const double seconds = time.seconds();  // hardly any where an earlier run has prepared it
        return child_.run([&] {
            ::close(in_);
            ::close(out_);
            if (!prepared) return answer(run(spec, observer));
            const RunsBeside beside(spec);
            RunRecord record = simulate(spec, *prepared, observer);
            beside.add_to(record);
            record.speed.prepare += seconds;
            record.speed.total += seconds;
            return answer(std::move(record));
        });
    }

    const int in_;
    const int out_;
    const fs::path folder_;
    const Summary& summary_;
    const RequestAnswers& requests_;
    std::list<std::pair<std::string, Prepared>> prepared_;  ///< by key, the last used first
    ChildProcess child_;
};

}  // namespace

std::filesystem::path place_of(const fs::path& folder, const Content& content) {
    return folder / content.hash / content.name;
}

void serve(int in, int out, const fs::path& folder, const Summary& summary, const RequestAnswers& requests) {
    Worker(in, out, folder, summary, requests).serve();
}

}  // namespace systole::run
