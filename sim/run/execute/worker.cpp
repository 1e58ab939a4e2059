#include "sim/run/execute/worker.h"

#include <unistd.h>

#include <exception>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sim/run/execute/child.h"
#include "sim/run/execute/message.h"
#include "sim/run/execute/run.h"

namespace systole::run {
namespace {

namespace fs = std::filesystem;

std::vector<std::uint8_t> bytes_in(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

class Worker {
public:
    Worker(int in, int out, fs::path folder) : in_(in), out_(out), folder_(std::move(folder)) {}

    void serve() {
        while (const std::optional<std::string> message = read_message(in_)) {
            const std::string_view body = std::string_view(*message).substr(1);
            switch (message->front()) {
                case content_message:
                    keep(from_bytes<ContentFiles>(body));
                    break;
                case spec_message:
                    if (!write_message(out_, answer(body))) return;
                    break;
                default:
                    throw RecordError("a message to a worker that it does not know");
            }
        }
    }

private:
    fs::path place_of(const std::string& name, const std::string& hash) const {
        return folder_ / hash / name;
    }

    void keep(const ContentFiles& content) {
        const fs::path place = place_of(content.name, content.hash);
        fs::create_directories(content.is_folder ? place : place.parent_path());
        for (const FileBytes& file : content.files) {
            std::ofstream copy(content.is_folder ? place / file.name : place, std::ios::binary);
            copy.write(reinterpret_cast<const char*>(file.bytes.data()),
                       static_cast<std::streamsize>(file.bytes.size()));
        }
    }

    /// Of a run without values, what is read and compiled: another run of the same may follow. Runs with
    /// values are prepared in their own process, as computing values takes threads.
    const Prepared& prepared_for(const RunSpec& spec) {
        const std::string key = prepared_key(spec);
        for (auto each = prepared_.begin(); each != prepared_.end(); ++each) {
            if (each->first != key) continue;
            prepared_.splice(prepared_.begin(), prepared_, each);
            return prepared_.front().second;
        }
        prepared_.emplace_front(key, prepare(spec));
        constexpr std::size_t most = 64;
        if (prepared_.size() > most) prepared_.pop_back();
        return prepared_.front().second;
    }

    std::string answer(std::string_view bytes) {
        std::vector<std::pair<std::string, std::string>> labels;  // by the path of their copies here
        const auto error = [&](std::string message) {
            for (const auto& [copy, label] : labels) replace_all(message, copy, label);
            return error_message + message;
        };
        try {
            const RunSpec asked = read_spec(bytes);
            RunSpec here = asked;
            for (Content* content : contents_of(here)) {
                if (content->hash.empty()) continue;  // cannot be read: its reader says why
                const std::string copy = place_of(content->name, content->hash).string();
                labels.emplace_back(copy, content->path.text);
                content->path.text = copy;
            }
            const Prepared* const prepared = here.timing_only ? &prepared_for(here) : nullptr;
            const ChildAnswer child = do_in_child([&] {
                ::close(in_);
                ::close(out_);
                RunRecord record = prepared ? simulate(here, *prepared) : run(here);
                record.spec = asked;
                return to_bytes(record);
            });
            return child.is_result ? record_message + child.bytes : error(child.bytes);
        } catch (const std::exception& caught) {
            return error(caught.what());
        }
    }

    const int in_;
    const int out_;
    const fs::path folder_;
    std::list<std::pair<std::string, Prepared>> prepared_;  ///< by key, the last used first
};

}  // namespace

Json record_json(const FileBytes& file) {
    return {{"name", file.name}, {"bytes", Json::binary(file.bytes)}};
}

void read_record_json(const Json& json, FileBytes& file) {
    file.name = json.at("name").get<std::string>();
    file.bytes = json.at("bytes").get_binary();
}

ContentFiles read_files(const Content& content) {
    const fs::path path = content.path.text;
    ContentFiles files{
        .name = content.name, .hash = content.hash, .is_folder = fs::is_directory(path), .files = {}};
    if (!files.is_folder) {
        files.files.push_back({.name = content.name, .bytes = bytes_in(path)});
        return files;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
        if (!entry.is_regular_file()) continue;
        files.files.push_back({.name = entry.path().filename().string(), .bytes = bytes_in(entry.path())});
    }
    return files;
}

void serve(int in, int out, const fs::path& folder) {
    Worker(in, out, folder).serve();
}

}  // namespace systole::run
