<?php

/** Code shared by the PHP stacks. */

const CREDENTIALS = ['ApiUserId' => 'demo', 'ApiUserKey' => 'demo-key'];

/** Returns the value at a path through objects and arrays; null if the path ends early. A final ? asks for the value's state. */
function at(mixed $value, string $path): mixed
{
    $steps = explode('.', $path);
    if (end($steps) === '?') {
        [$name] = array_splice($steps, -2);
        $record = (array) at($value, implode('.', $steps));
        return !array_key_exists($name, $record) ? 'absent' : ($record[$name] === null ? 'nil' : 'value');
    }
    foreach ($steps as $index => $step) {
        if ($value === null) return null;
        if ($step === '#') return count($value);
        // an array without an item is empty
        $otherwise = ($steps[$index + 1] ?? '') === '#' ? [] : null;
        $value = (is_object($value) ? $value->$step ?? null : $value[$step] ?? null) ?? $otherwise;
    }
    return $value;
}

function printed(mixed $value, string $path): ?string
{
    if ($value === null) return null;
    if (is_bool($value)) return $value ? 'true' : 'false';
    if (str_ends_with($path, 'DocumentBytes')) return substr($value, 0, 4) . ' ' . strlen($value);
    return (string) $value;
}

function say(array $line): void
{
    echo json_encode($line), "\n";
}

/** Makes all checks with a client of a WSDL. `$read` is the same as in makeCalls. */
function makeChecks(callable $read): void
{
    say(['situation' => 'import', 'got' => []]);
    makeCalls($read);
}

/** Makes all calls. `$read($check, $address)` returns the reply's Data, or a fault's code and message. */
function makeCalls(callable $read): void
{
    foreach (json_decode(file_get_contents(getenv('CHECKS')), true) as $check) {
        $line = ['operation' => $check['operation'], 'situation' => $check['situation']];
        $address = getenv($check['situation'] === 'fault' ? 'FAULT_ENDPOINT' : 'ENDPOINT');
        try {
            $data = $read($check, $address);
            $values = array_map(fn ($path) => printed(at($data, $path), $path), array_keys($check['read']));
            say($line + ['got' => $values]);
        } catch (Throwable $error) {
            say($line + ['error' => get_class($error) . ': ' . $error->getMessage()]);
        }
    }
}
