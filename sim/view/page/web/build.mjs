// Bundles the page into one HTML file with a place for the reports.
//
//   node build.mjs NODE_MODULES OUTPUT.html
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.resolve(process.argv[2]);
const output = process.argv[3];
const { build } = createRequire(path.join(modules, 'here.js'))('esbuild');

const result = await build({
    entryPoints: [path.join(here, 'src/main.js')],
    absWorkingDir: here,
    nodePaths: [modules],
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['es2021'],
    legalComments: 'none', // the notices below are whole
    metafile: true,
    write: false,
    outdir: 'out',
    logLevel: 'warning',
});

/// The packages whose files became part of the bundle.
function bundledPackages() {
    const names = new Set();
    for (const file of Object.keys(result.metafile.inputs)) {
        const inside = file.split('node_modules/').at(-1);
        if (inside === file) continue;
        const parts = inside.split('/');
        names.add(parts[0].startsWith('@') ? `${parts[0]}/${parts[1]}` : parts[0]);
    }
    return [...names].sort();
}

/// The licence files of a package.
function licenceFiles(folder) {
    return readdirSync(folder, { withFileTypes: true })
        .filter(({ name }) => /^(licen[cs]e|notice|copyright)/i.test(name))
        .flatMap((entry) => {
            const file = path.join(folder, entry.name);
            return entry.isDirectory() ? licenceFiles(file) : [file];
        })
        .sort();
}

/// The licences of the packages, which copies must include: one section for each package.
function notices() {
    const texts = ['This page contains the following software.'];
    for (const name of bundledPackages()) {
        const folder = path.join(modules, name);
        const { version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
        const files = licenceFiles(folder);
        if (files.length === 0) throw new Error(`${name} has no file with its licence`);
        const contents = files.map((file) => readFileSync(file, 'utf8').trim());
        texts.push(`${'='.repeat(80)}\n${name} ${version}, ${license}`, ...contents);
    }
    const text = texts.join('\n\n');
    if (/<\/script|<!--/i.test(text)) throw new Error('a licence would end the element that it stands in');
    return text;
}

const text = (extension) => result.outputFiles.find((file) => file.path.endsWith(extension)).text;
const parts = { STYLE: text('.css'), SCRIPT: text('.js'), NOTICES: notices(), REPORTS: '@REPORTS@' };
const page = readFileSync(path.join(here, 'page.html'), 'utf8');
writeFileSync(output, page.replace(/@([A-Z]+)@/g, (place, name) => parts[name] ?? place));
