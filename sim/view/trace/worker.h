#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

namespace systole::trace {

/// A thread that works on items in the order in which they are passed on. Passing on an item blocks while
/// `most` items wait, so that memory stays bounded. Items are reused: their memory is allocated once.
template <class Item>
class Worker {
public:
    /// The thread calls `work`; the item is reused in the state in which `work` leaves it.
    Worker(std::size_t most, std::function<void(Item&)> work)
        : most_(most), work_(std::move(work)), thread_([this] { run(); }) {}
    /// Finishes the items that have been passed on; errors are ignored.
    ~Worker() { close(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Returns an item to fill next, which is new or reused. Rethrows an exception of `work`, which has then
    /// ended the thread.
    Item pass_on(Item item) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return items_.size() < most_ || failure_; });
        if (failure_) std::rethrow_exception(failure_);
        items_.push(std::move(item));
        Item next{};
        if (!spare_.empty()) {
            next = std::move(spare_.back());
            spare_.pop_back();
        }
        lock.unlock();
        changed_.notify_all();
        return next;
    }

    /// Returns when all items have been worked on; no item may follow. Rethrows an exception of `work`.
    void finish() {
        close();
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    void close() {
        if (!thread_.joinable()) return;
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }

    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
            if (items_.empty()) return;
            Item item = std::move(items_.front());
            items_.pop();
            lock.unlock();
            std::exception_ptr failure;
            try {
                work_(item);
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            spare_.push_back(std::move(item));
            failure_ = failure;
            changed_.notify_all();
            if (failure_) return;
        }
    }

    const std::size_t most_;
    const std::function<void(Item&)> work_;
    std::mutex mutex_;  ///< protects all members below
    std::condition_variable changed_;
    std::queue<Item> items_;
    std::vector<Item> spare_;
    bool closed_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  ///< the last member: it uses the others
};

}  // namespace systole::trace
