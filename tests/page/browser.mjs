// Chromium, and the checks of every page in it.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const modules = process.env.SYSTOLE_NODE_MODULES;
const { chromium } = createRequire(path.join(modules, 'here.js'))('playwright-core');

export function launch() {
    return chromium.launch({
        executablePath: '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
            '--disable-component-update', '--disable-sync'],
    });
}

/// The page of a file, completely drawn. `leave` closes it and checks that it has printed nothing on the console and
/// requested nothing from the network.
export async function open(browser, file, { width = 1400, colorScheme = 'light' } = {}) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const complaints = [];
    const requests = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => requests.push(request.url()));
    const url = pathToFileURL(file).href;
    await page.goto(url);
    await page.waitForSelector('html[data-drawn=all]');
    page.leave = async () => {
        assert.deepEqual(complaints, []);
        assert.deepEqual(requests.filter((each) => !each.startsWith('data:')), [url]);
        await page.close();
    };
    return page;
}

/// The tooltip that a chart shows, as text.
export async function tooltip(chart) {
    const tip = chart.locator('.tip');
    await tip.waitFor();
    return (await tip.innerText()).replaceAll(/\s+/g, ' ');
}
