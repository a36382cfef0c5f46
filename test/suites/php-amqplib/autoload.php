<?php
// Finds the classes of php-amqplib as its composer.json says, and those of phpseclib where Debian has them.
require_once 'phpseclib/autoload.php';

spl_autoload_register(function (string $class): void {
    $folders = [
        'PhpAmqpLib\\Tests\\Functional\\' => 'tests/Functional/',
        'PhpAmqpLib\\Tests\\Unit\\' => 'tests/Unit/',
        'PhpAmqpLib\\' => 'PhpAmqpLib/',
    ];
    foreach ($folders as $prefix => $folder) {
        $file = __DIR__ . '/../' . $folder . str_replace('\\', '/', substr($class, strlen($prefix))) . '.php';
        if (strncmp($class, $prefix, strlen($prefix)) === 0 && is_file($file)) {
            require_once $file;
            return;
        }
    }
});
