<?php

/** The output of the PHP programs for services: a line of JSON for each check. */

function told($value): ?string
{
    if ($value === null) return null;
    if (is_bool($value)) return $value ? 'true' : 'false';
    return (string) $value;
}

function check(string $situation, callable $read): void
{
    try {
        $line = ['situation' => $situation, 'got' => array_map('told', $read())];
    } catch (Throwable $error) { // the harness reports it
        $line = ['situation' => $situation, 'error' => get_class($error) . ': ' . $error->getMessage()];
    }
    echo json_encode($line, JSON_UNESCAPED_UNICODE), "\n";
}
